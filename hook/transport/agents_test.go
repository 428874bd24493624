package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// recorded is the form of an agent's request, written by internal/provider/modelserver:
// every text is cut, and ids are replaced.
type recorded struct {
	Path   string
	Header map[string]string
	Body   json.RawMessage
}

func readRecorded(t *testing.T, name string) (out recorded) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "agents", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// uncut restores the words that the recorder cut from Claude Code's request for a
// summary, as far as the transport reads them: the two tags.
func (r recorded) uncut() recorded {
	const cut = `"text":"CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.\n\n- `
	r.Body = bytes.Replace(r.Body, []byte(cut), []byte(cut+"… <analysis> … <summary>"), 1)
	return r
}

// send sends a recorded request. If body is given, its rounds replace the recorded
// conversation.
func (r *rig) send(rec recorded) {
	r.t.Helper()
	req := r.request(context.Background(), rec.Path, string(rec.Body))
	for k, v := range rec.Header {
		req.Header.Set(k, v)
	}
	if status, answer := r.do(req); status != http.StatusOK {
		r.t.Fatalf("%s: %d %s, want %d", rec.Path, status, answer, http.StatusOK)
	}
}

const (
	uuid1 = "00000000-0000-4000-8000-000000000001"
	ses1  = "ses_000000000000000000000001"
	ses2  = "ses_000000000000000000000002"
)

// agentForms are requests of agents, recorded in November 2026: Claude Code 2.1.197,
// Codex 0.169.0, Gemini CLI 0.61.0, OpenCode 1.18.33, pi 0.73.1.
var agentForms = []struct {
	name, session, agent string
	own                  string // session of the agent's own summary
}{
	{"claude-main", "request:metadata.user_id:" + uuid1, "", ""},
	{"claude-sub", "request:metadata.user_id:" + uuid1, "00000000000000003", ""},
	{"claude-own", "request:metadata.user_id:" + uuid1, "", "Claude Code"},
	{"claude-after", "request:metadata.user_id:" + uuid1, "", ""},
	{"codex-main", "request:client_metadata.session_id:" + uuid1, "/root", ""},
	{"codex-sub", "request:client_metadata.session_id:" + uuid1, "/root/some", ""},
	{"codex-own", "", "", "compaction_trigger"},
	{"codex-after", "request:client_metadata.session_id:" + uuid1, "/root", ""},
	{"gemini-main", "request:user:" + uuid1 + ":…", "", ""},
	{"gemini-sub", "request:user:" + uuid1 + ":…", "", ""},
	{"gemini-own", "", "", "Gemini CLI"},
	{"opencode-title", "request:x-session-affinity:" + ses1, "", ""},
	{"opencode-main", "request:x-session-affinity:" + ses1, "", ""},
	{"opencode-sub", "request:x-session-affinity:" + ses1, ses2, ""},
	{"opencode-own", "", "", "OpenCode"},
	{"opencode-after", "request:x-session-affinity:" + ses1, "", ""},
	{"pi-main", compact.UnnamedSession + "…", "", ""},
	{"pi-own", "", "", "pi"},
	{"pi-after", compact.UnnamedSession + "…", "", ""},
	{"pi-openai-main", "request:session_id:" + uuid1, "", ""},
}

func TestAgentsSendTheirConversationID(t *testing.T) {
	for _, c := range agentForms {
		r := newRig(t, compact.Config{MaxContextTokens: 100_000}, transport.Recall())
		r.server.Lenient = true
		rec := readRecorded(t, c.name).uncut()
		r.send(rec)
		if c.own != "" {
			r.wentWhole(c.name, c.own, string(rec.Body))
			continue
		}
		r.quiet()
		res := r.last()
		want, long := strings.CutSuffix(c.session, "…")
		if !strings.HasPrefix(res.Session, want) || long != (len(res.Session) == len(want)+32) || res.Agent != c.agent {
			t.Errorf("%s: session %q of agent %q, want %q of %q", c.name, res.Session, res.Agent, c.session, c.agent)
		}
	}
}

// wentWhole checks that the one request was sent unchanged and was recognized.
func (r *rig) wentWhole(name, own, body string) {
	r.t.Helper()
	if len(r.results) != 0 || r.got()[0] != body {
		r.t.Errorf("%s: it was compared with the budget, or changed:\n%s", name, r.got()[0])
	}
	if len(r.errs) != 1 || !errors.Is(r.errs[0], transport.ErrPassed) || !strings.Contains(r.errs[0].Error(), own) {
		r.t.Errorf("%s: recognized as %v, want %q", name, r.errs, own)
	}
}

// A text that a user types, pastes, or has in a file is never an agent's request for a
// summary, even if it begins like one. Such requests are compared with the budget.
func TestQuotedSummaryRequestIsNotAnAgentsOwn(t *testing.T) {
	const asks = "Your task is to create a detailed summary of the conversation so far."
	const form = " <analysis> … </analysis> <summary> … </summary>"
	for _, f := range forms() {
		r := newRig(t, compact.Config{})
		bodies := []string{
			f.body("It says: "+asks+form, 60, 300), // not at its beginning
			f.body(asks+form, 60, 300),             // not at the end
			f.asking(asks),                         // not for that form
			f.asking("CRITICAL: Respond with TEXT ONLY. Do NOT call any tools. What does this mean?"),
			f.asking("You are performing a CONTEXT CHECKPOINT COMPACTION. Is that a good prompt?"),
			f.withTools().instructed("You are a context summarization agent."), // which brings no tools
			f.instructed("It says: You are a context summarization assistant."),
		}
		for i, body := range bodies {
			if r.post(f, body); len(r.results) != i+1 || !r.last().Triggered && r.last().Replayed == 0 {
				t.Errorf("%v: request %d was not compacted: %s", f, i, tail(body, 200))
			}
		}
		r.quiet()
	}
}

// asking returns a long request with these last words.
func (f form) asking(last string) string {
	s := shapes[f.wire].ask
	s = s[strings.LastIndex(s, `{"role":"user"`):]
	return more(f.body("Fix it.", 60, 300), fmt.Sprintf(s, last))
}

// instructed returns a long request with these instructions.
func (f form) instructed(text string) string {
	f.fields += map[provider.Wire]string{
		provider.Chat: "", provider.Responses: `,"instructions":"` + text + `"`, provider.Anthropic: `,"system":"` + text + `"`,
		provider.Gemini: `,"systemInstruction":{"parts":[{"text":"` + text + `"}]}`,
	}[f.wire]
	return strings.Replace(f.body("Fix it.", 60, 300), "Fix bugs.", text, 1)
}

// If an agent's own request for a summary does not fit the model's window, it is
// compacted before it is sent. Otherwise the provider would refuse it.
func TestAnAgentsOwnSummaryThatIsTooLongIsCompacted(t *testing.T) {
	for _, f := range forms() {
		for _, own := range []func(form) string{
			func(f form) string {
				return f.asking("Your task is to create a detailed summary of it. <analysis> … <summary> …")
			},
			func(f form) string { return f.instructed("You are a context summarization agent.") },
		} {
			r := newRig(t, compact.Config{})
			body := own(f)
			if r.post(f, body); len(r.results) != 0 || r.got()[0] != body {
				t.Errorf("%v: content with a place of its own was compacted", f)
			}
			small := f // a model with a window smaller than the history
			small.path = strings.Replace(f.path, "gemini-2.5-pro", "gpt-4-0613", 1)
			for _, name := range []string{"gpt-4o", "gpt-5", "claude-sonnet-4-5"} {
				small.fields = strings.Replace(small.fields, `"`+name+`"`, `"gpt-4-0613"`, 1)
			}
			body = own(small)
			if status, answer := r.post(small, body); status != http.StatusOK || len(r.results) != 1 || !r.last().Triggered {
				t.Errorf("%v: %d, %d results: other content was not compacted: %.300s", small, status, len(r.results), answer)
			}
		}
	}
}

// The request for the agent's own summary is sent whole, with any size, and is
// compacted only if the provider refuses it. The history after the summary is a branch
// of the same session, with its own compactions.
func TestAgentsOwnSummaryBeginsANewEpoch(t *testing.T) {
	const asks = `,{"role":"user","content":[{"type":"text","text":"Your task is to create a detailed summary of the conversation so far. <analysis> … <summary> …"}]}]}`
	f := forms()[4]
	f.fields += `,"metadata":{"session_id":"s"}`
	var branches []string
	r := newRig(t, compact.Config{}, transport.OnResult(func(ctx context.Context, res *compact.Result) {
		_, _, branch := transport.Lane(ctx)
		branches = append(branches, fmt.Sprint(res.Session, branch, res.Triggered))
	}))
	post := func(body string) { r.do(r.request(t.Context(), f.path, body)) }
	long := f.body("Fix it.", 60, 300)
	post(long)
	whole := strings.TrimSuffix(long, "]}") + asks
	post(whole)
	if got := r.got(); got[1] != whole {
		t.Errorf("%d bytes of %d were sent", len(got[1]), len(whole))
	}
	after := f.body("This session is being continued. Summary: …", 60, 300)
	post(after)
	if len(branches) != 2 || branches[0] == branches[1] || !strings.HasSuffix(branches[1], "true") || !strings.HasPrefix(branches[1], "request:metadata.session_id:s") {
		t.Errorf("%q, want two different branches", branches)
	}
	r.server.Window = 10_000
	post(whole)
	if got := r.got(); len(got) != 5 || len(got[4]) >= len(whole) {
		t.Errorf("%d requests: refused, it was not compacted and sent again", len(got))
	}
}

// Tools that are declared inside the conversation stay there, and no second list of
// them is added.
func TestToolsInTheConversationStay(t *testing.T) {
	const item = `{"type":"additional_tools","role":"developer","tools":[{"type":"custom","name":"exec"}]}`
	f := forms()[2]
	r := newRig(t, compact.Config{}, transport.Recall())
	body := strings.Replace(f.body("Fix it.", 60, 300), `"input":[`, `"input":[`+item+`,`, 1)
	body = strings.Replace(body, `{"type":"function_call","call_id":"c9"`, `{"type":"configuration_update","reasoning":{"effort":"high"}},{"type":"function_call","call_id":"c9"`, 1)
	r.post(f, body)
	got := r.got()[0]
	if !r.last().Triggered || !strings.Contains(got, item) || !strings.Contains(got, `"configuration_update"`) || strings.Contains(got, `"name":"recall"`) {
		t.Errorf("compacted %v: %.600s, want text with %q, text with %q and text without %q", r.last().Triggered, got, item, `"configuration_update"`, `"name":"recall"`)
	}
	r.quiet()
}
