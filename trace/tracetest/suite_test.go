package tracetest_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

func TestRecorderKeepsContract(t *testing.T) {
	tracetest.Run(t, func(testing.TB) trace.Exporter { return &tracetest.Recorder{} })
}

func TestRecorderDistinguishesEvents(t *testing.T) {
	r := &tracetest.Recorder{Err: errors.New("kept all the same")}
	events := tracetest.Sample(time.Now())
	if err := r.Export(t.Context(), events); !errors.Is(err, r.Err) {
		t.Errorf("err = %v", err)
	}
	if got := r.Named(trace.NameArchival); len(got) != 1 || got[0].SpanID != events[2].SpanID {
		t.Errorf("archival events: %+v", got)
	}
	if got := strings.Join(r.Names(), " "); !strings.HasSuffix(got, trace.NameBeforeModelCall) || r.Exports() != 1 {
		t.Errorf("names: %s in %d batches", got, r.Exports())
	}
}

// broken are exporters that break one promise each. The suite must fail on these
// exporters. It runs on them in another process, which must exit with an error.
var broken = map[string]func() trace.Exporter{
	"modify_the_events":         func() trace.Exporter { return &lyingExporter{modifies: true} },
	"no_events_returns_nil":     func() trace.Exporter { return &lyingExporter{refusesNothing: true} },
	"any_content":               func() trace.Exporter { return &lyingExporter{panics: true} },
	"soon_after_ctx_is_done":    func() trace.Exporter { return &lyingExporter{hangs: true} },
	"Export_returns_ErrShut":    func() trace.Exporter { return &lyingExporter{forgets: true} },
	"done_from_the_start":       func() trace.Exporter { return &lyingExporter{hangsAtEnd: true} },
	"nothing_and_returns_nil":   func() trace.Exporter { return &lyingExporter{complains: true} },
	"must_not_keep_the_slice":   func() trace.Exporter { return &lyingExporter{keeps: true} },
	"modify_the_events_(Trace)": func() trace.Exporter { return &lyingExporter{modifiesTrace: true} },
}

type lyingExporter struct {
	modifies, modifiesTrace, refusesNothing, panics, hangs, forgets, hangsAtEnd, complains, keeps bool

	kept []trace.Event
	down bool
}

func (l *lyingExporter) Export(ctx context.Context, events []trace.Event) error {
	switch {
	case l.down && !l.forgets:
		return trace.ErrShutdown
	case len(events) == 0 && l.refusesNothing:
		return errors.New("nothing to do")
	case len(events) == 0:
		return nil
	case l.panics && events[0].SpanID == "":
		panic("no id")
	case l.hangs && ctx.Err() != nil:
		select {}
	}
	if l.modifies {
		events[0].Name = "changed"
	}
	if info := events[len(events)-1].Trace; l.modifiesTrace && info != nil {
		info.GroupID = redact.Lit("changed")
	}
	if l.keeps {
		for _, e := range l.kept {
			if e.Name == "" {
				panic("the events are gone")
			}
		}
		l.kept = events
	}
	return nil
}

func (l *lyingExporter) Shutdown(ctx context.Context) error {
	if l.hangsAtEnd && ctx.Err() != nil {
		select {}
	}
	if l.down && l.complains {
		return errors.New("again?")
	}
	l.down = true
	return nil
}

const brokenEnv = "TRACETEST_BROKEN_EXPORTER"

func TestSuiteNoticesBrokenPromises(t *testing.T) {
	if name := os.Getenv(brokenEnv); name != "" {
		tracetest.Run(t, func(testing.TB) trace.Exporter { return broken[name]() })
		return
	}
	for name := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSuiteNoticesBrokenPromises$")
			cmd.Env = append(os.Environ(), brokenEnv+"="+name)
			out, err := cmd.CombinedOutput()
			promise, _, _ := strings.Cut(name, "_(")
			if err == nil || !strings.Contains(string(out), "--- FAIL: TestSuiteNoticesBrokenPromises/") || !strings.Contains(string(out), promise) {
				t.Errorf("the suite passed, or failed elsewhere: %v\n%s", err, out)
			}
		})
	}
}
