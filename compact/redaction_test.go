package compact_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
)

func TestEverythingThatIsStoredOrExportedIsRedacted(t *testing.T) {
	secret := "sk-" + strings.Repeat("a1B2", 10)
	password := "hunter" + strings.Repeat("7x", 6)
	server := ariadnetest.NewServer(t)
	dir := t.TempDir()
	history := loop(100, 200)
	history[5] = message.ToolResult(history[5].Parts[0].CallID, "OPENAI_API_KEY="+secret+"\n"+text(200))
	history[6] = message.Assistant("I will use password: "+password, message.Call("call_2", "bash", `{"command":"export API_KEY=`+secret+`"}`))
	before := bytesOf(history)
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Trace.AriadneURL = "gpt-4", 8_000, mustOpen(t, dir), server.URL
	r := newRig(t, c)
	res, err := r.ManualCompact(context.Background(), "s", history, "because password: "+password)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if bytesOf(history) != before {
		t.Error("the messages in memory were changed")
	}
	if view := bytesOf(res.Messages); strings.Contains(res.Summary.Text, secret) || strings.Contains(view, secret) || strings.Contains(res.Summary.Text, password) {
		t.Error("the summary holds a secret")
	}
	if res.Note != "because password: <REDACTED>" {
		t.Errorf("the note of the result is %q, want %q", res.Note, "because password: <REDACTED>")
	}
	searched := 0
	look := func(where string, data []byte) {
		searched += len(data)
		for _, s := range []string{secret, password} {
			if bytes.Contains(data, []byte(s)) {
				t.Errorf("%s holds a secret", where)
			}
		}
	}
	for _, name := range files(t, filepath.Join(dir, "s")) {
		data, err := os.ReadFile(filepath.Join(dir, "s", name))
		if err != nil {
			t.Fatal(err)
		}
		look(name, data)
	}
	for _, body := range server.Bodies() {
		look("a body to Ariadne", body)
	}
	for _, e := range r.events.Events() {
		look("an event", e.AppendJSON(nil))
	}
	if searched < 50_000 || len(server.Bodies()) == 0 {
		t.Errorf("only %d bytes and %d bodies were searched", searched, len(server.Bodies()))
	}
}

func TestRedactionOffIsAHighSeverityEvent(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Archive, c.Redaction.Enabled = "gpt-4", memory.New(), false
	r := newRig(t, c)
	r.preflight(turns(1, 10))
	if e := r.named(trace.NameRedactionDisabled); len(e) != 1 || e[0].Severity != trace.SeverityHigh {
		t.Errorf("got %v, want one event of high severity", e)
	}
}

// A secret that one message reveals is removed from all other messages,
// including earlier ones and those that don't mark it as a secret.
func TestSecretIsFoundInEveryMessageOfItsSession(t *testing.T) {
	for _, transcripts := range []string{"compactions", "all"} {
		t.Run("summarized, "+transcripts, func(t *testing.T) { testSecretIsFound(t, transcripts, 8_000) })
		t.Run("masked, "+transcripts, func(t *testing.T) { testSecretIsFound(t, transcripts, 24_000) })
	}
}

func testSecretIsFound(t *testing.T, transcripts string, window int) {
	secret := "Kq7" + strings.Repeat("zR4x", 5) + "9w"
	history := loop(100, 200)
	history[5] = message.ToolResult(history[5].Parts[0].CallID, "it printed "+secret+" and stopped\n"+text(150))
	history[8].Parts = []message.Part{message.Call(history[8].Parts[0].CallID, "bash", `{"command":"run `+secret+`"}`)}
	history[9] = message.ToolResult(history[9].Parts[0].CallID, "data: "+base64.StdEncoding.EncodeToString([]byte("me:"+secret))+" end")
	history[60] = message.Assistant("I use "+secret+" for it", history[60].Parts...)
	// The secret is in the part that stays: nothing is summarized, or only other messages
	// are.
	history[196] = message.Assistant("now with DB_PASSWORD="+secret, history[196].Parts...)
	dir := t.TempDir()
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Storage.Transcripts = "gpt-4", window, mustOpen(t, dir), transcripts
	r := newRig(t, c)
	ctx := context.Background()
	res, err := r.Preflight(ctx, "s", history)
	if err != nil || !res.Triggered || (res.Summary != nil) != (window == 8_000) {
		t.Fatalf("%v, %s, want no error, a compaction, and a summary only in the small window", err, res.ReductionStage)
	}
	if res, err = r.ManualCompact(ctx, "s", append(history, message.User("so?")), "because of "+secret); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Archive(ctx, "s", history), r.Archive(ctx, "another", history[:10]), r.Close(ctx)); err != nil {
		t.Fatal(err)
	}
	hidden := base64.StdEncoding.EncodeToString([]byte("xx" + secret))[4:24]
	for _, name := range files(t, filepath.Join(dir, "s")) {
		data, err := os.ReadFile(filepath.Join(dir, "s", name))
		if err != nil {
			t.Fatal(err)
		}
		for form, s := range map[string]string{"plain": secret, "base64": hidden} {
			if strings.Contains(string(data), s) {
				t.Errorf("%s holds the secret, %s", name, form)
			}
		}
	}
	if strings.Contains(res.Summary.Text, secret) {
		t.Error("the summary holds the secret")
	}
	other, err := os.ReadFile(filepath.Join(dir, "another", "transcript-final-001.jsonl"))
	if err != nil || !strings.Contains(string(other), secret) {
		t.Errorf("the secrets of another session apply here: %v", err)
	}
}

// Every part of a message can reveal a secret, on every wire.
func TestSecretIsFoundInPartsThatOnlyOneWireHas(t *testing.T) {
	secret := "Kq7" + strings.Repeat("zR4x", 5) + "9w"
	for name, body := range map[string]string{
		"a second thinking block": `{"max_tokens":9,"messages":[{"role":"user","content":"it printed ` + secret + `"},{"role":"assistant","content":[
			{"type":"thinking","thinking":"hm","signature":"QQ"},{"type":"thinking","thinking":"so DB_PASSWORD=` + secret + `","signature":"QQ"},{"type":"text","text":"I see"}]},{"role":"user","content":"go on"}]}`,
		"a document": `{"max_tokens":9,"messages":[{"role":"user","content":"it printed ` + secret + `"},{"role":"user","content":[{"type":"text","text":"look"},
			{"type":"document","source":{"type":"text","media_type":"text/plain","data":"DB_PASSWORD=` + secret + `"}}]}]}`,
		"a second thought": `{"contents":[{"role":"user","parts":[{"text":"it printed ` + secret + `"}]},
			{"role":"model","parts":[{"text":"hm","thought":true},{"text":"so DB_PASSWORD=` + secret + `","thought":true},{"text":"I see"}]},{"role":"user","parts":[{"text":"go on"}]}]}`,
		"an unknown field": `{"messages":[{"role":"user","content":"it printed ` + secret + `"},{"role":"assistant","content":"I see","notes":"DB_PASSWORD=` + secret + `"},{"role":"user","content":"go on"}]}`,
	} {
		f, err := formats.Read("auto", []byte(body))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		c, err := compact.Preset("graduated")
		if err != nil {
			t.Fatal(err)
		}
		c.Model, c.Archive, c.Storage.Transcripts = "gpt-4", mustOpen(t, dir), "all"
		m := newRig(t, c)
		if err := errors.Join(m.Archive(t.Context(), "s", f.Messages()), m.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		for _, file := range files(t, filepath.Join(dir, "s")) {
			data, err := os.ReadFile(filepath.Join(dir, "s", file))
			if err != nil || strings.Contains(string(data), secret) {
				t.Errorf("%s: %s holds the secret, %v", name, file, err)
			}
		}
	}
}
