package transport_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
)

// clocked returns a request with the time in its system prompt.
func (f form) clocked(ask string, rounds, words, minute int) string {
	clock := fmt.Sprintf("Fix bugs. It is 12:%02d.", minute)
	body := f.body(ask, rounds, words)
	switch f.wire {
	case provider.Chat:
		return strings.Replace(body, "Fix bugs.", clock, 1)
	case provider.Responses:
		return strings.Replace(body, "{", `{"instructions":"`+clock+`",`, 1)
	case provider.Anthropic:
		return strings.Replace(body, "{", `{"system":"`+clock+`",`, 1)
	}
	return strings.Replace(body, "{", `{"systemInstruction":{"parts":[{"text":"`+clock+`"}]},`, 1)
}

// All calls, from the first one without an answer to the last, belong to one session,
// and each compaction applies to all later calls.
func TestClockInTheSystemPromptStartsNoNewSession(t *testing.T) {
	for _, f := range forms() {
		for _, fields := range []string{"", `,"user":"me"`} {
			if f.stream || f.wire != provider.Chat && fields != "" {
				continue
			}
			g := f
			g.fields += fields
			r := newRig(t, compact.Config{})
			sessions, compactions := map[string]int{}, 0
			stride := 5 // one call for each step on one wire, and one call for every fifth step on the other wires
			if f.wire == provider.Chat && fields == "" {
				stride = 1
			}
			for step := 0; step < 50; step += stride {
				res := r.unnamed(g, g.clocked("Fix it.", step, 300, step))
				sessions[res.Session]++
				if res.Triggered {
					compactions++
				}
			}
			if len(sessions) != 1 || compactions == 0 || compactions > 3 {
				t.Errorf("%v %q: %d sessions, %d compactions of 50 calls; want 1 and at most 3", f, fields, len(sessions), compactions)
			}
			r.quiet()
		}
	}
}

// jwt returns a JSON web token without a valid signature.
func jwt(claims string) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"RS256"}`) + "." + part(claims) + "." + part(claims+"signed")
}

func TestTokenIsIdentifiedByItsSubject(t *testing.T) {
	f := forms()[0]
	one := jwt(`{"iss":"https://id","sub":"alice","exp":1}`)
	for _, c := range []struct {
		name, header, first, then string
		same                      bool
	}{
		{"a token that rotates", "Authorization", "Bearer " + one, "Bearer " + jwt(`{"sub":"alice","exp":2,"iss":"https://id"}`), true},
		{"another subject", "Authorization", "Bearer " + one, "Bearer " + jwt(`{"iss":"https://id","sub":"bob","exp":1}`), false},
		{"another issuer", "Authorization", "Bearer " + one, "Bearer " + jwt(`{"iss":"https://other","sub":"alice","exp":1}`), false},
		{"no subject, but a client", "Authorization", "Bearer " + jwt(`{"client_id":"c","exp":1,"jti":"x"}`), "Bearer " + jwt(`{"client_id":"c","exp":2,"jti":"y"}`), true},
		{"another client", "Authorization", "Bearer " + jwt(`{"client_id":"c","exp":1}`), "Bearer " + jwt(`{"client_id":"d","exp":1}`), false},
		{"only an expiry time", "Authorization", "Bearer " + jwt(`{"exp":1}`), "Bearer " + jwt(`{"exp":2}`), false},
		{"in a key's header", "Api-Key", one, jwt(`{"iss":"https://id","sub":"alice","exp":3}`), true},
		{"a key", "Authorization", "Bearer sk-1", "Bearer sk-2", false},
		{"no valid token", "Authorization", "Bearer a.b.c", "Bearer a.b.d", false},
		{"Google's", "Authorization", "Bearer ya29.abc", "Bearer ya29.def", true},
		{"Anthropic's", "Authorization", "Bearer sk-ant-oat01-abc", "Bearer sk-ant-oat01-def", true},
		{"Copilot's", "Authorization", "Bearer tid=1;exp=2:a", "Bearer tid=1;exp=3:b", true},
		{"Copilot's, another id", "Authorization", "Bearer tid=1;exp=2:a", "Bearer tid=2;exp=2:a", false},
		{"a project", "X-Goog-User-Project", "p", "q", false},
	} {
		for _, fields := range []string{"", `,"user":"me"`} {
			g := f
			g.fields += fields
			r := newRig(t, compact.Config{})
			first, then := r.unnamed(g, g.body("hi", 1, 1), c.header, c.first).Session, r.unnamed(g, g.body("hi", 2, 1), c.header, c.then).Session
			if (first == then) != c.same {
				t.Errorf("%s %q: %q, then %q", c.name, fields, first, then)
			}
			if strings.Contains(first, "alice") || strings.Contains(first, "sk-1") {
				t.Errorf("%s: the session %q contains the user or the key", c.name, first)
			}
		}
	}
}

func TestProjectsInThePathSeparateTenants(t *testing.T) {
	f, r := forms()[7], newRig(t, compact.Config{})
	one := r.unnamed(f, f.body("hi", 1, 1), "Authorization", "Bearer ya29.a").Session
	f.path = strings.Replace(f.path, "projects/p/", "projects/q/", 1)
	if two := r.unnamed(f, f.body("hi", 1, 1), "Authorization", "Bearer ya29.b").Session; one == two {
		t.Errorf("two projects share the session %q", one)
	}
}

// An identifier that users share does not name a conversation.
func TestSharedIdentifiersNameNoSession(t *testing.T) {
	for _, fields := range []string{`,"prompt_cache_key":"agent-v1"`, `,"user":"me"`, `,"prompt_cache_key":"agent-v1","user":"me"`} {
		f, r := forms()[0], newRig(t, compact.Config{})
		f.fields += fields
		one := r.unnamed(f, f.body("Fix a.", 1, 1)).Session
		if later := r.unnamed(f, f.body("Fix a.", 3, 1)).Session; later != one {
			t.Errorf("%s: %q, then %q", fields, one, later)
		}
		if other := r.unnamed(f, f.body("Fix b.", 1, 1)).Session; other == one {
			t.Errorf("%s: two conversations share the session %q", fields, one)
		}
		if other := r.unnamed(f, f.body("Fix a.", 1, 1), "Authorization", "Bearer other").Session; other == one {
			t.Errorf("%s: two tenants share the session %q", fields, one)
		}
		f.fields = strings.Replace(f.fields, `"user":"me"`, `"user":"you"`, 1)
		if other := r.unnamed(f, f.body("Fix a.", 1, 1)).Session; strings.Contains(fields, "user") && other == one {
			t.Errorf("%s: two users share the session %q", fields, one)
		}
	}
}

// Requests of sub-agents, for titles and for second answers come between the calls of
// the main conversation, under one name or without a name. The view of the main
// conversation must not change.
func TestOtherConversationsHaveNoEffect(t *testing.T) {
	for _, fields := range []string{"", `,"metadata":{"session_id":"s"}`, `,"user":"me"`} {
		f := forms()[0]
		f.fields += fields
		alone, r := newRig(t, compact.Config{}), newRig(t, compact.Config{})
		stride := 4
		if fields == "" {
			stride = 2
		}
		for step := 0; step < 40; step += stride {
			title := strings.Replace(f.body("Fix it.", 0, 0), "Fix bugs.", "Write a title.", 1)
			answered := strings.ReplaceAll(f.body("Fix it.", step, 480), `"read"`, `"list"`)
			for _, body := range []string{title, f.body("Explore.", step, 490), answered} {
				if status, answer := r.do(r.request(context.Background(), f.path, body)); status != http.StatusOK {
					t.Fatal(answer)
				}
			}
			main := f.body("Fix it.", step, 500)
			want, got := alone.unnamed(f, main), r.unnamed(f, main)
			if a, b := alone.got(), r.got(); a[len(a)-1] != b[len(b)-1] || got.Triggered != want.Triggered {
				t.Fatalf("%q, step %d: compacted %v, alone %v; the views are the same: %v", fields, step, got.Triggered, want.Triggered, a[len(a)-1] == b[len(b)-1])
			}
		}
		if alone.steps() == 0 {
			t.Error("nothing was compacted")
		}
		r.quiet()
	}
}

// After a conversation goes back to an earlier step, with the same words or others, the
// compactions before that step still apply.
func TestRewoundConversationsKeepTheirCompactions(t *testing.T) {
	f, r := forms()[0], newRig(t, compact.Config{})
	for step := 10; step <= 60; step += 5 {
		r.unnamed(f, f.body("Fix it.", step, 300))
	}
	grown := r.last()
	back := r.unnamed(f, f.body("Fix it.", 58, 300))
	if grown.Replayed == 0 || back.Replayed == 0 || back.Session != grown.Session {
		t.Errorf("grown: %d edits; rewound: %d, %q and %q", grown.Replayed, back.Replayed, grown.Session, back.Session)
	}
	branched := strings.Replace(f.body("Fix it.", 59, 300), "file 58: word", "file 58: branch", 1)
	if res := r.unnamed(f, branched); res.Replayed == 0 || res.Session != grown.Session {
		t.Errorf("branched: %d edits, %q, want %q", res.Replayed, res.Session, grown.Session)
	}
	if res := r.unnamed(f, f.body("Fix it.", 0, 0)); res.Replayed != 0 || res.Session != grown.Session {
		t.Errorf("from the beginning: %d edits, %q; want 0 and %q", res.Replayed, res.Session, grown.Session)
	}
}

// Before the first answer nothing is compacted, not even above the trigger, because
// everything belongs to the open round. So the session has no edits yet that a branch
// could need.
func TestNothingIsCompactedBeforeTheFirstAnswer(t *testing.T) {
	ask := strings.Repeat(`,{"role":"user","content":"`+strings.Repeat("word ", 90)+`"},{"role":"system","content":"tick"}`, 180)
	r := newRig(t, compact.Config{MaxContextTokens: 20_500})
	res := r.unnamed(forms()[0], `{"model":"gpt-4o","messages":[{"role":"system","content":"Watch."}`+ask+"]}")
	if res.Triggered || res.Replayed != 0 || res.Before.Total < res.Trigger || r.steps() != 0 {
		t.Errorf("%d tokens, trigger %d: compacted %v, want false", res.Before.Total, res.Trigger, res.Triggered)
	}
}

// An agent with its task in the system prompt works without a user message. A later
// user message does not make another session.
func TestAnAgentWithoutAUserKeepsItsSession(t *testing.T) {
	f := forms()[0]
	solo := func(rounds int) string {
		return strings.Replace(f.body("x", rounds, 300), `{"role":"user","content":"x"},`, "", 1)
	}
	r := newRig(t, compact.Config{})
	for step := 1; step <= 60; step += 5 {
		r.unnamed(f, solo(step))
	}
	before := r.last()
	said := strings.TrimSuffix(solo(60), "]}") + `,{"role":"user","content":"Stop."}`
	for _, body := range []string{said + "]}", said + `,{"role":"assistant","content":"Yes."},{"role":"user","content":"Go on."}]}`} {
		if res := r.unnamed(f, body); before.Replayed == 0 || res.Replayed < before.Replayed || res.Session != before.Session {
			t.Errorf("%d edits replayed in %q, after %d in %q", res.Replayed, res.Session, before.Replayed, before.Session)
		}
	}
	other := strings.ReplaceAll(solo(60), `"read"`, `"list"`)
	if res := r.unnamed(f, other); res.Replayed != 0 {
		t.Errorf("another agent: %d edits replayed, want 0", res.Replayed)
	}
}

// A common greeting does not distinguish conversations.
func TestGreetingDoesNotCountAsAnAnswer(t *testing.T) {
	f, r := forms()[0], newRig(t, compact.Config{})
	greeted := func(ask string) string {
		return strings.Replace(f.body(ask, 1, 1), `{"role":"user"`, `{"role":"assistant","content":"Hello!"},{"role":"user"`, 1)
	}
	if a, b := r.unnamed(f, greeted("a")).Session, r.unnamed(f, greeted("b")).Session; a == b {
		t.Errorf("two conversations share the session %q", a)
	}
}
