package compact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// broken is an exporter that can't deliver anything.
type broken struct {
	tracetest.Recorder
	name string
	logs bool
}

func (b *broken) Name() string { return b.name }
func (b *broken) Logs() bool   { return b.logs }

var errUnauthorized = errors.New("answer 401 Unauthorized")

func TestLossesOfExportersAreCountedAndReported(t *testing.T) {
	var mu sync.Mutex
	var told []*trace.ExportError
	bad, fine := &broken{name: "otlp"}, &tracetest.Recorder{}
	bad.Err = errUnauthorized
	r := newRig(t, compact.Config{Exporters: []trace.Exporter{bad, fine}, OnTraceError: func(err error) {
		var e *trace.ExportError
		if !errors.As(err, &e) {
			t.Errorf("reported: %v", err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		told = append(told, e)
	}})
	r.preflight(turns(2, 10))
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := r.Stats().Exporters
	if s[0].Exporter != "otlp" || s[0].Lost() == 0 || s[0].Lost() != s[0].Emitted || s[1].Lost() != 0 || s[1].Exported != s[0].Emitted {
		t.Errorf("stats: %v", s)
	}
	r.preflight(turns(2, 10)) // this call reports the earlier losses
	if err := r.Close(context.Background()); err != nil {
		t.Error(err)
	}
	calls := r.events.Named(trace.NameBeforeModelCall)
	var last map[string]any
	if err := json.Unmarshal([]byte(calls[len(calls)-1].Data.String()), &last); err != nil {
		t.Fatal(err)
	}
	if want := float64(s[0].Lost()); last["events_dropped"] != want || last["events_lost"] == nil || last["events_lost"].(map[string]any)["otlp"] != want {
		t.Errorf("events_dropped %v, events_lost %v, want %v by otlp", last["events_dropped"], last["events_lost"], want)
	}
	mu.Lock()
	defer mu.Unlock()
	lost := 0
	for _, e := range told {
		lost += e.Lost
	}
	if s := r.Stats().Exporters[0]; lost != int(s.Lost()) || told[0].Exporter != "otlp" || !errors.Is(told[0], errUnauthorized) {
		t.Errorf("reported %d events: %v; stats %v", lost, told, s)
	}
}

// TestFailureOfASilentExporterIsLogged: without a handler the log reports each loss
// once. It does not report failures that the exporter has logged itself.
func TestFailureOfASilentExporterIsLogged(t *testing.T) {
	for _, c := range []struct {
		name string
		logs bool
		err  error
		want []string // parts of the only line in the log; nil = the log has no line
	}{
		{"refused", false, errUnauthorized, []string{"exporter=otlp", "during=export", "lost=", "waiting=0", "401 Unauthorized"}},
		{"says so itself", true, errUnauthorized, nil},
		{"nobody there", true, &trace.RetryError{Err: &net.OpError{Op: "dial", Err: errors.New("connection refused")}}, []string{"during=close", "connection refused"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log bytes.Buffer
			bad := &broken{name: "otlp", logs: c.logs}
			bad.Err = c.err
			r := newRig(t, compact.Config{Exporters: []trace.Exporter{bad}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			r.preflight(turns(2, 10))
			if err := r.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if n := strings.Count(log.String(), "did not arrive"); n != min(1, len(c.want)) {
				t.Errorf("%d lines:\n%s", n, &log)
			}
			for _, w := range c.want {
				if !strings.Contains(log.String(), w) {
					t.Errorf("%q is not in the log:\n%s", w, &log)
				}
			}
		})
	}
}
