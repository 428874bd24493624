package trace_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

var at = time.Date(2026, 11, 21, 6, 10, 0, 123_456_789, time.FixedZone("", 2*3600))

func plain(t testing.TB, s string) redact.Text {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Text(s)
}

func TestLineHasDocumentedForm(t *testing.T) {
	e := trace.Event{
		Name: trace.NameRedactionDisabled, Kind: trace.KindSecurity, TraceID: "t", SpanID: "s", ParentID: "p",
		Session: redact.Lit("7f3a"), Agent: redact.Lit("coder"), Start: at, End: at.Add(time.Microsecond), Severity: trace.SeverityHigh,
		Data: redact.Lit(`{"n":12345678901234567890,"output_text":"<b>"}`),
		Trace: &trace.TraceInfo{Name: redact.Lit("session 7f3a"), GroupID: redact.Lit("7f3a"), Start: at,
			Metadata: map[string]redact.Text{"model": redact.Lit("gpt-4"), "agent": redact.Lit("coder")}},
	}
	want := `{"v":3,"name":"compact.redaction_disabled","kind":"compact.security","session":"7f3a","agent":"coder",` +
		`"trace_id":"t","span_id":"s","parent_id":"p",` +
		`"started_at":"2026-11-21T04:10:00.123456789Z","ended_at":"2026-11-21T04:10:00.123457789Z",` +
		`"status":"ok","severity":"high","data":{"n":12345678901234567890,"output_text":"<b>"},` +
		`"trace":{"name":"session 7f3a","group_id":"7f3a","started_at":"2026-11-21T04:10:00.123456789Z","metadata":{"agent":"coder","model":"gpt-4"}}}`
	if got := string(e.AppendJSON([]byte("before"))); got != "before"+want {
		t.Errorf("got  %s\nwant before%s", got, want)
	}
}

func TestLineOmitsEmptyFields(t *testing.T) {
	const want = `{"v":3,"name":"","kind":"","session":"","trace_id":"","status":"ok"}`
	if got := string(trace.Event{}.AppendJSON(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func FuzzLineIsOneParsableLine(f *testing.F) {
	f.Add("7f3a", `{"a":1}`)
	f.Add("a\"b\\c\n\x00\xff", "{\n \"a\": \"b\"\n}")
	f.Add("日本語", "no JSON \u2028")
	f.Add("7f3a", "{\r \"a\":\r 1}") // a reader of lines may end one at a carriage return
	f.Add("7f3a", `[1,2]`)           // data is an object in each line
	f.Add("", `{"a":1} `)
	f.Add("x", `{"a":"`+"\xff"+`"}`)
	f.Fuzz(func(t *testing.T, session, data string) {
		e := trace.Event{Name: trace.NameError, Session: plain(t, session), Agent: plain(t, session), Start: at, Data: plain(t, data)}
		line := e.AppendJSON(nil)
		if bytes.ContainsAny(line, "\n\r") {
			t.Fatalf("more than one line: %q", line)
		}
		var back struct {
			Session string
			Agent   string
			Data    map[string]any
		}
		if err := json.Unmarshal(line, &back); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if want := strings.ToValidUTF8(session, "\uFFFD"); len([]rune(back.Session)) < len([]rune(want)) || back.Agent != back.Session {
			t.Fatalf("session %q came back as %q", session, back.Session)
		}
		if (data != "") != (back.Data != nil) {
			t.Fatalf("data %q came back as %v", data, back.Data)
		}
	})
}

func TestIDsAreDistinctHex(t *testing.T) {
	for _, c := range []struct {
		make func() string
		form string
	}{
		{trace.NewSpanID, `^[0-9a-f]{16}$`},
		{trace.NewTraceID, `^[0-9a-f]{32}$`},
	} {
		seen := map[string]bool{}
		for range 10_000 {
			id := c.make()
			if !regexp.MustCompile(c.form).MatchString(id) || seen[id] {
				t.Fatalf("id %q: malformed, or seen before", id)
			}
			seen[id] = true
		}
	}
}

func TestSessionTraceIDIsStableAndOpaque(t *testing.T) {
	a := trace.SessionTraceID("session-7f3a")
	if a != trace.SessionTraceID("session-7f3a") || a == trace.SessionTraceID("session-7f3b") {
		t.Error("the id must depend on the session and on nothing else")
	}
	if !regexp.MustCompile(`^[0-9a-f]{32}$`).MatchString(a) {
		t.Errorf("id = %q", a)
	}
}

func TestContextCarriesPosition(t *testing.T) {
	if _, _, ok := trace.FromContext(t.Context()); ok {
		t.Error("an empty context has a position")
	}
	if _, _, ok := trace.FromContext(trace.ContextWith(t.Context(), "", "p")); ok {
		t.Error("FromContext returns a position without a trace")
	}
	tr, parent, ok := trace.FromContext(trace.ContextWith(t.Context(), "t", "p"))
	if tr != "t" || parent != "p" || !ok {
		t.Errorf("got %q, %q, %v", tr, parent, ok)
	}
}

func TestSampleEventsHaveTheFormOfTheirPayloads(t *testing.T) {
	payloads := map[string]func() trace.Payload{}
	for _, p := range everyPayload() {
		e := trace.New(p, redact.Text{}, at, at)
		payloads[e.Name] = func() trace.Payload { return p }
	}
	for _, e := range tracetest.Sample(at) {
		p, known := payloads[e.Name]
		if !known {
			t.Errorf("%s has no payload type", e.Name)
			continue
		}
		want, got := keysOf(t, trace.Encode(p())), keysOf(t, []byte(e.Data.String()))
		for _, k := range got {
			if !strings.Contains(" "+strings.Join(want, " ")+" ", " "+k+" ") {
				t.Errorf("%s: key %s is not in its payload", e.Name, k)
			}
		}
	}
}
