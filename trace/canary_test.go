package trace_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/canary"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
	"github.com/agentcompact/compact/trace/console"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

// safeBuffer may be written to concurrently.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// tap is a collector that keeps its input byte for byte.
type tap struct {
	mu   sync.Mutex
	sent bytes.Buffer
}

func (c *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := io.Copy(&c.sent, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
	w.WriteHeader(http.StatusOK)
}

// No exporter sends a secret from any field, and no log line contains it.
func TestNoSecretLeavesByAnyExporter(t *testing.T) {
	secrets := canary.Secrets(50, 7)
	redactor, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	srv := ariadnetest.NewServer(t)
	collector := &tap{}
	otlp := httptest.NewServer(collector)
	defer otlp.Close()
	var human, lines, log, audit bytes.Buffer
	var errs safeBuffer // each exporter reports from its own goroutine
	toCollector, err := otel.NewOTLP(t.Context(), otlp.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	p := trace.NewPipeline([]trace.Exporter{
		ariadne.New(srv.URL, &ariadne.Options{ErrorLog: &log}), ariadne.New(tracetest.DeadURL(t), &ariadne.Options{ErrorLog: &log}),
		console.New(&human, &console.Options{Width: -1}), console.New(&lines, &console.Options{JSON: true}), toCollector,
	}, &trace.PipelineOptions{OnError: func(err error) { fmt.Fprintln(&errs, err) }})

	emit := func(payload trace.Payload, parent string, at time.Time) {
		e := trace.New(payload, redactor.JSON(trace.Encode(payload)), at, at.Add(time.Millisecond))
		e.TraceID, e.ParentID, e.Session = "0123456789abcdef0123456789abcdef", parent, redact.Lit("s")
		if parent == "" {
			e.SpanID, e.End = "00000000000000aa", at.Add(time.Hour)
			e.Trace = &trace.TraceInfo{Name: redactor.Text(secrets[0].Text), GroupID: redact.Lit("s"), Start: at, Metadata: map[string]redact.Text{"note": redactor.Text(secrets[1].Text)}}
		}
		audit.WriteString(redactor.Record(e.AppendJSON(nil)).String())
		p.Emit(e)
	}
	for i, s := range secrets {
		at := at.Add(time.Duration(i) * time.Second)
		for _, payload := range payloadsWith(s.Text) {
			emit(payload, "00000000000000aa", at)
			at = at.Add(10 * time.Millisecond)
		}
	}
	emit(trace.Preflight{SessionID: "s", ErrorType: "Error", OutputText: secrets[2].Text}, "", at)
	if err := p.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	places := map[string]string{
		"Ariadne": string(bytes.Join(srv.Bodies(), nil)), "OTLP": collector.sent.String(), "console": human.String(),
		"console --json": lines.String(), "stderr": log.String(), "audit log": audit.String(), "errors": errs.String(),
	}
	for place, sent := range places {
		if events := place != "stderr" && place != "errors"; len(sent) == 0 || (events && !strings.Contains(sent, "summary_created")) {
			t.Errorf("%s got nothing that can be searched: the test proves nothing", place)
		}
		for _, s := range secrets {
			if s.Leaks(sent) {
				t.Errorf("%s got a secret of %.30q…", place, strings.Replace(s.Text, s.Value, "(secret)", 1))
			}
		}
	}
}

// payloadsWith puts a text into every field that takes text from outside.
func payloadsWith(text string) []trace.Payload {
	encoded := fmt.Sprintf(`{"decisions":[%q]}`, text)
	return []trace.Payload{
		trace.TriggerDecision{SessionID: "s", Reason: "manual", Note: text},
		trace.Archival{SessionID: "s", FilePath: "f", ErrorType: "io", OutputText: text},
		trace.Summarize{SessionID: "s", Backend: "openai", ErrorType: "refused", OutputText: text},
		trace.SummaryCreated{SessionID: "s", Payload: []byte(encoded), OutputText: text},
		trace.Error{SessionID: "s", ErrorType: "SummarizerFailed", Chain: []string{text, "x " + text}, Guidance: text, Message: text},
	}
}
