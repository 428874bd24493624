package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A recording identifies the agent of a request, and contains no data of the
// machine.
func TestFormsContainNoMachineData(t *testing.T) {
	s := newScript(2, 50_000, 3)
	dir := t.TempDir()
	s.record = newRecorder(dir)
	const session = "0f9a2b11-77aa-4cde-8123-0123456789ab"
	body := `{"model":"m","max_tokens":1,"metadata":{"user_id":"{\"device_id\":\"` + strings.Repeat("ab", 32) + `\",\"session_id\":\"` + session + `\"}"},` +
		`"tools":[{"name":"Bash","description":"long","input_schema":{}}],"messages":[{"role":"user","content":"/home/someone/secret ` + strings.Repeat("x", 200) + `"}]}`
	for range 2 {
		req := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(body))
		req.Header.Set("X-Api-Key", "sk-secret")
		req.Header.Set("X-Claude-Code-Session-Id", session)
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, req); w.Code != http.StatusOK {
			t.Fatal(w.Body)
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, "002.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{session, "abab", "sk-secret", "someone", "description", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"} {
		if strings.Contains(string(b), gone) {
			t.Errorf("%q is in %s", gone, b)
		}
	}
	const id = "00000000-0000-4000-8000-000000000001"
	if strings.Count(string(b), id) != 2 || !strings.Contains(string(b), `"name":"Bash"`) {
		t.Errorf("%s", b)
	}
}

func TestStepsOfAgents(t *testing.T) {
	ask := func(s *script, body string) string {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/v1/responses", strings.NewReader(body)))
		return w.Body.String()
	}
	const codex = `{"model":"m","store":false,"include":["reasoning.encrypted_content"],"input":[{"type":"additional_tools","role":"developer","tools":[` +
		`{"type":"namespace","name":"functions","tools":[{"type":"custom","name":"exec"}]},{"type":"namespace","name":"collaboration","tools":[{"name":"spawn_agent"}]}]},{"role":"user","content":"x"}%s]}`
	s := newScript(3, 0, 3)
	s.help = true
	for _, c := range []struct{ more, want string }{
		{"", `"namespace":"collaboration"`}, {"", `"input":"// @exec`}, {`,{"type":"compaction_trigger"}`, `"type":"compaction"`}, {"", `"type":"reasoning"`},
		{`,{"role":"user","content":"You are performing a CONTEXT CHECKPOINT COMPACTION."}`, "Some steps are done."}, {"", "All steps are done."},
	} {
		if got := ask(s, strings.Replace(codex, "%s", c.more, 1)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.more, got)
		}
	}
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodGet, "/v1/responses", nil)
	req.Header.Set("Upgrade", "websocket")
	if s.ServeHTTP(w, req); w.Code != http.StatusUpgradeRequired {
		t.Error(w.Code)
	}
}
