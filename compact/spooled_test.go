package compact_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace/metrics"
)

// spooling is an archive with a backlog, behind another one.
type spooling struct {
	storage.Archive
	now    storage.Backlog
	notify func(storage.Backlog)
}

func (s *spooling) Backlog() storage.Backlog         { return s.now }
func (s *spooling) Notify(f func(b storage.Backlog)) { s.notify = f }

type front struct{ storage.Archive }

func (f front) Inner() storage.Archive { return f.Archive }

// An operator sees a bucket that takes no data: in the log, without secrets, in the
// metrics, and in Stats.
func TestABucketThatTakesNoDataIsSeen(t *testing.T) {
	var log bytes.Buffer
	counts := metrics.New(nil)
	s := &spooling{Archive: memory.New(), now: storage.Backlog{Dir: "/spool", Operations: 12, Sessions: 3, Conflicts: 1, Failing: time.Now().Add(-time.Hour),
		Err: errors.New("403 for key AKIAQYLPMN5HFIQR7XYA")}}
	c := compact.Config{Archive: front{s}, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	c.Exporters = append(c.Exporters, counts.Exporter())
	r := newRig(t, c)
	s.notify(s.now)
	for _, want := range []string{"level=WARN", "the archive does not take data", "operations=12", "sessions=3", "spool=/spool", "403 for key"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "AKIAQYLPMN5HFIQR7XYA") {
		t.Errorf("the log has a key: %s, want text without %q", log.String(), "AKIAQYLPMN5HFIQR7XYA")
	}
	if b := r.Stats().Backlog; b == nil || b.Operations != 12 || b.Conflicts != 1 {
		t.Errorf("Stats: %+v", b)
	}
	text := string(counts.AppendText(nil))
	for _, want := range []string{"compact_spool_operations 12", "compact_spool_sessions 3", "compact_spool_conflicts 1", "compact_spool_failing_seconds 36"} {
		if !strings.Contains(text, "\n"+want) {
			t.Errorf("the metrics lack %q", want)
		}
	}
	log.Reset()
	s.notify(storage.Backlog{Dir: "/spool"})
	if got := log.String(); !strings.Contains(got, "level=INFO") || !strings.Contains(got, "takes data again") {
		t.Errorf("the log of the end: %s", got)
	}
	if b := newRig(t, compact.Config{}).Stats().Backlog; b != nil {
		t.Errorf("an archive without a spool has a backlog: %+v", b)
	}
}
