package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestScriptFollowsItsStepsAndCountsRequests(t *testing.T) {
	srv := httptest.NewServer(newScript(2, 500, 3))
	defer srv.Close()
	post := func(body string) string {
		resp, err := http.Post(srv.URL+"/v1/messages", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, _ := io.ReadAll(resp.Body)
		return fmt.Sprint(resp.StatusCode, " ", string(b))
	}
	const ask = `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"}]%s}`
	for _, c := range []struct{ more, want string }{
		{"", "A title"}, {`,"tools":[{"name":"Bash","input_schema":{}}]`, "seq 1 3"}, {`,"tools":[{"name":"read","input_schema":{}},{"name":"recall","input_schema":{}}]`, `{"n":2}`},
		{`,"tools":[{"name":"Bash","input_schema":{}}]`, "All steps are done"}, {`,"system":"` + strings.Repeat("x", 4000) + `"`, "400 "},
	} {
		if got := post(fmt.Sprintf(ask, c.more)); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.more, got)
		}
	}
	resp, err := http.Get(srv.URL + "/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if b, _ := io.ReadAll(resp.Body); !strings.Contains(string(b), `"steps":2,"requests":5,"status":{"200":4,"400":1}`) {
		t.Errorf("%s", b)
	}
}

// A request that declares only the recall tool gets an answer without a call.
func TestScriptIgnoresALoneRecallTool(t *testing.T) {
	srv := httptest.NewServer(newScript(2, 500, 3))
	defer srv.Close()
	const ask = `{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"name":"recall"}]}]}`
	resp, err := http.Post(srv.URL+"/v1beta/models/m:generateContent", "application/json", strings.NewReader(ask))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || !strings.Contains(string(b), "There is nothing to do") {
		t.Errorf("%d %s", resp.StatusCode, b)
	}
}
