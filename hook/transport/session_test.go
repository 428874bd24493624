package transport_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

func TestSessionIsNamedByContextThenHeaderThenRequest(t *testing.T) {
	chat, anthropic := forms()[0], forms()[4]
	all := `"prompt_cache_key":"key","metadata":{"thread_id":"thread","session_id":"session"},"user":"me"`
	for _, c := range []struct {
		name    string
		f       form
		context string
		headers map[string]string
		fields  string
		want    string
		opts    []transport.Option
	}{
		{"context", chat, "ctx", map[string]string{"X-Compact-Session": "head"}, all, "ctx", nil},
		{"header", chat, "", map[string]string{"X-Compact-Session": "head"}, all, "head", nil},
		{"another header", chat, "", map[string]string{"X-Compact-Session": "head", "X-Chat": "chat"}, all, "chat", []transport.Option{transport.SessionHeader("X-Conv", "X-Chat")}},
		{"metadata", chat, "", nil, all, "request:metadata.session_id:session", nil},
		{"thread", chat, "", nil, `"prompt_cache_key":"key","metadata":{"thread_id":"thread"},"user":"me"`, "request:metadata.thread_id:thread", nil},
		{"other metadata", chat, "", nil, `"metadata":{"color":"red"},"user":"me"`, "request:user:me:…", nil},
		{"prompt_cache_key", chat, "", nil, `"prompt_cache_key":"key","user":"me"`, "request:prompt_cache_key:key:…", nil},
		{"user", chat, "", nil, `"user":"me"`, "request:user:me:…", nil},
		{"user of Anthropic", anthropic, "", nil, `"metadata":{"user_id":"me"}`, "request:user:me:…", nil},
		{"a user named like an unnamed session", chat, "", nil, `"user":"unnamed:1"`, "request:user:unnamed:1:…", nil},
		{"Claude Code", anthropic, "", nil, `"metadata":{"user_id":"{\"device_id\":\"d\",\"account_uuid\":\"a\",\"session_id\":\"0f9a-11\"}"}`, "request:metadata.user_id:0f9a-11", nil},
		{"Claude Code until 2.1", anthropic, "", nil, `"metadata":{"user_id":"user_ab12_account__session_0f9a2b11-77aa"}`, "request:metadata.user_id:0f9a2b11-77aa", nil},
		{"a user whose id contains session", anthropic, "", nil, `"metadata":{"user_id":"mysession_0f9a2b11"}`, "request:user:mysession_0f9a2b11:…", nil},
		{"Claude Code's header", anthropic, "", map[string]string{"x-claude-code-session-id": "0f9a"}, `"metadata":{"user_id":"me"}`, "request:x-claude-code-session-id:0f9a", nil},
		{"Codex's metadata", chat, "", nil, `"prompt_cache_key":"key","client_metadata":{"session_id":"s1","thread_id":"t1"}`, "request:client_metadata.session_id:s1", nil},
		{"Codex's header", chat, "", map[string]string{"x-codex-turn-metadata": `{"session_id":"s1","n":1}`}, `"prompt_cache_key":"key"`, "request:x-codex-turn-metadata.session_id:s1", nil},
		{"an invalid header of Codex", chat, "", map[string]string{"x-codex-turn-metadata": `{"session_id":`}, `"user":"me"`, "request:user:me:…", nil},
	} {
		r := newRig(t, compact.Config{}, c.opts...)
		f := c.f
		f.fields += "," + c.fields
		ctx := context.Background()
		if c.context != "" {
			ctx = transport.WithSession(ctx, c.context)
		}
		req := r.request(ctx, f.path, f.body("x", 1, 1))
		for k, v := range c.headers {
			req.Header.Set(k, v)
		}
		r.do(req)
		want, alone := strings.CutSuffix(c.want, "…")
		if got := r.last().Session; !strings.HasPrefix(got, want) || len(got)-len(want) != map[bool]int{true: 32}[alone] {
			t.Errorf("%s: session %q, want %q", c.name, got, c.want)
		}
		h := r.server.Requests()[0].Header
		if h.Get("X-Compact-Session") != "" || h.Get("X-Chat") != c.headers["X-Chat"] {
			t.Errorf("%s: sent with %v", c.name, h)
		}
		r.quiet()
	}
}

func TestAgentIsNamedByContextThenHeader(t *testing.T) {
	f := forms()[0]
	r := newRig(t, compact.Config{})
	ctx := transport.WithSession(context.Background(), "s")
	for _, c := range []struct {
		ctx          context.Context
		header, want string
	}{
		{transport.WithBranch(transport.WithAgent(ctx, "coder"), "b"), "other", "coder"},
		{ctx, "planner", "planner"},
		{context.Background(), "", "explorer"},
		{ctx, "", ""},
	} {
		req := r.request(c.ctx, f.path, f.body("x", 1, 1))
		req.Header.Set("X-Compact-Agent", c.header)
		req.Header.Set("X-Codex-Turn-Metadata", `{"session_id":"s","agent_name":"explorer"}`)
		r.do(req)
		if res := r.last(); res.Agent != c.want || !strings.HasSuffix(res.Session, "s") {
			t.Errorf("agent %q of %q, want %q", res.Agent, res.Session, c.want)
		}
	}
}

func TestLongNamesAreHashed(t *testing.T) {
	r := newRig(t, compact.Config{})
	f := forms()[0]
	for _, user := range []string{strings.Repeat("a", 5000), strings.Repeat("a", 5001)} {
		g := f
		g.fields += `,"user":"` + user + `"`
		r.do(r.request(context.Background(), g.path, g.body("x", 1, 1)))
	}
	one, two := r.results[0].Session, r.results[1].Session
	if one == two || len(one) > 130 || !strings.HasPrefix(one, "request:user:keyed-") {
		t.Errorf("%q and %q, want text that begins with %q", one, two, "request:user:keyed-")
	}
	sum := sha256.Sum256([]byte(strings.Repeat("a", 5000)))
	if strings.Contains(one, hex.EncodeToString(sum[:8])) {
		t.Errorf("%q can be tested without the key", one)
	}
	for key, same := range map[string]bool{"": true, strings.Repeat("ab", 32): false} {
		other := newRig(t, compact.Config{ArchiveKey: compact.Secret(key)})
		g := f
		g.fields += `,"user":"` + strings.Repeat("a", 5000) + `"`
		other.do(other.request(context.Background(), g.path, g.body("x", 1, 1)))
		if got, _, _ := strings.Cut(other.results[0].Session, ":keyed-"); got != "request:user" {
			t.Errorf("the session is %q", other.results[0].Session)
		}
		name := func(s string) string { return strings.Split(s, ":")[2] }
		if (name(other.results[0].Session) == name(one)) != same {
			t.Errorf("with the key %q the session is %q, before %q", key, other.results[0].Session, one)
		}
	}
}

// unnamed makes a call that names no session, and returns its result.
func (r *rig) unnamed(f form, body string, headers ...string) *compact.Result {
	r.t.Helper()
	req := r.request(context.Background(), f.path, body)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if status, answer := r.do(req); status != 200 {
		r.t.Fatal(answer)
	}
	return r.last()
}

func TestUnnamedSessionsAreDistinguishedByTheirBeginning(t *testing.T) {
	for _, f := range forms() {
		r := newRig(t, compact.Config{})
		one := r.unnamed(f, f.body("hi", 1, 1)).Session
		if !strings.HasPrefix(one, compact.UnnamedSession) {
			t.Fatalf("%v: %q, want text that begins with %q", f, one, compact.UnnamedSession)
		}
		if later := r.unnamed(f, f.body("hi", 5, 9)).Session; later != one {
			t.Errorf("%v: the same conversation is %q, then %q", f, one, later)
		}
		if other := r.unnamed(f, f.body("hello", 1, 1)).Session; other == one {
			t.Errorf("%v: calls with different first messages have one session", f)
		}
		for _, h := range []string{"Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"} {
			if other := r.unnamed(f, f.body("hi", 1, 1), h, "Bearer of another tenant").Session; other == one {
				t.Errorf("%v: calls with different %s have one session", f, h)
			}
		}
	}
	f := forms()[0]
	r := newRig(t, compact.Config{})
	ids := map[string]string{}
	for _, query := range []string{"", "?key=ab", "?key=a&api_key=b", "?api_key=ab", "?api-key=ab"} {
		g := f
		g.path += query
		id := r.unnamed(g, f.body("hi", 1, 1)).Session
		if other, known := ids[id]; known {
			t.Errorf("%q and %q are one session", query, other)
		}
		ids[id] = query
	}
}

// Before the first answer, a call is a branch identified by its beginning, even if
// several conversations of one name begin at once.
func TestCallsBeforeTheFirstAnswerBranchByTheirBeginning(t *testing.T) {
	f := forms()[0]
	f.fields += `,"metadata":{"session_id":"s"}`
	var branches []string
	r := newRig(t, compact.Config{}, transport.OnResult(func(ctx context.Context, _ *compact.Result) {
		_, _, branch := transport.Lane(ctx)
		branches = append(branches, branch)
	}))
	for _, ask := range []string{"hi", "hi", "hello"} {
		r.do(r.request(t.Context(), f.path, f.body(ask, 0, 1)))
	}
	if len(branches) != 3 || branches[0] == "" || branches[0] != branches[1] || branches[0] == branches[2] {
		t.Errorf("branches %q", branches)
	}
}

// rigAt returns a rig for a provider of this name that accepts everything.
func rigAt(t *testing.T, host string) *rig {
	r := newRig(t, compact.Config{}, transport.Base(&reader{buf: make([]byte, 4096)}))
	r.url = "http://" + host
	return r
}

const printID = "COMPACT_TEST_PRINT_ID"

// Another process can't derive the name of an unnamed session, even from the same
// request.
func TestUnnamedSessionsEndWithTheProcess(t *testing.T) {
	f := forms()[0]
	id := rigAt(t, "provider.test").unnamed(f, f.body("hi", 1, 1)).Session
	if os.Getenv(printID) != "" {
		fmt.Println("id=" + id)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestUnnamedSessionsEndWithTheProcess$")
	cmd.Env = append(os.Environ(), printID+"=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, other, ok := strings.Cut(string(out), "id=")
	other, _, _ = strings.Cut(other, "\n")
	if !ok || !strings.HasPrefix(other, compact.UnnamedSession) || other == id {
		t.Errorf("here %q, in another process %q, want text that begins with %q", id, other, compact.UnnamedSession)
	}
	if again := rigAt(t, "provider.test").unnamed(f, f.body("hi", 1, 1)).Session; again != id {
		t.Errorf("another transport of this process has %q, not %q", again, id)
	}
	if other := rigAt(t, "another.test").unnamed(f, f.body("hi", 1, 1)).Session; other == id {
		t.Error("calls to different providers have one session")
	}
}

var recallRef = regexp.MustCompile(`recall ([0-9a-f]+)\]`)

func TestNothingIsRecalledFromUnnamedSessions(t *testing.T) {
	for _, f := range forms() {
		r, answered := newRig(t, compact.Config{}), newRig(t, compact.Config{}, transport.Call(compact.WithRecall()))
		body := f.body("hi", 60, 300)
		answered.post(f, body)
		named := recallRef.FindStringSubmatch(answered.got()[0])
		if named == nil {
			t.Fatalf("%v: no placeholder of a named session names a reference: the test proves nothing", f)
		}
		if text, err := answered.m.Recall(context.Background(), "s", named[1]); err != nil || !strings.Contains(text, "word") {
			t.Errorf("%v: a named session recalls %.50q, %v; want text with %q and no error", f, text, err, "word")
		}
		res := r.unnamed(f, body)
		if hit := recallRef.FindString(r.got()[0]); hit != "" || !res.Triggered {
			t.Errorf("%v: compacted %v, and a placeholder contains %q; want true and none", f, res.Triggered, hit)
		}
		for _, ref := range []string{named[1], "turn:2"} {
			if text, err := r.m.Recall(context.Background(), res.Session, ref); !errors.Is(err, compact.ErrNotFound) {
				t.Errorf("%v: recalled %.50q, %v, want ErrNotFound", f, text, err)
			}
		}
	}
}

// Two tenants behind one key, with one system prompt, both begin with "hi".
func TestConversationsWithOneBeginningStaySeparate(t *testing.T) {
	for _, fields := range []string{"", `,"user":"everybody"`} {
		for _, f := range forms() {
			if f.wire == provider.Gemini && fields != "" {
				continue // requests of this wire have no such field
			}
			f.fields += fields
			r := newRig(t, compact.Config{})
			mine := f.body("hi", 60, 300)
			yours := strings.ReplaceAll(strings.ReplaceAll(mine, "word", "your"), `{\"n\":`, `{\"your\":`)
			yours = strings.ReplaceAll(yours, `{"n":`, `{"your":`)
			one, two := r.unnamed(f, mine), r.unnamed(f, yours)
			if one.Session != two.Session || !one.Triggered || !two.Triggered || two.Replayed != 0 {
				t.Errorf("%v: %q and %q; compacted %v and %v, %d edits of the other applied", f, one.Session, two.Session, one.Triggered, two.Triggered, two.Replayed)
			}
			got := r.got()
			if strings.Contains(got[1], "word") || strings.Contains(got[1], `\"n\"`) {
				t.Errorf("%v: one conversation got the other's text", f)
			}
			if alone := newRig(t, compact.Config{}); alone.unnamed(f, yours).After.Total != two.After.Total || alone.got()[0] != got[1] {
				t.Errorf("%v: the view differs from the view of a tenant who is alone", f)
			}
			r.quiet()
		}
	}
}
