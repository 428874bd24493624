package record

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// filled is a reader of a given number of bytes without a line feed.
type filled int64

func (f *filled) Read(p []byte) (int, error) {
	n := min(len(p), int(*f))
	for i := range p[:n] {
		p[i] = 'x'
	}
	if *f -= filled(n); n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

// A message with a large file is a line of a transcript, and exceeds the limit of
// logs.
func TestLinesOfTranscriptsAreReadAboveTheLimitOfLogs(t *testing.T) {
	f, n := filled(maxLineBytes+1), 0
	err := eachMessage(t.Context(), &f, func(l rawLine) error {
		n += len(l.text)
		return nil
	})
	if err != nil || n != maxLineBytes+1 {
		t.Errorf("%d bytes, %v; want %d and no error", n, err, maxLineBytes+1)
	}
	f = maxLineBytes + 1
	if err := eachLine(t.Context(), &f, 0, func(rawLine) error { return nil }); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("a log: %v, want ErrDamaged", err)
	}
}

// Lines that could not be read back are not stored.
func TestUnreadableLinesAreRefused(t *testing.T) {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	piece := r.Text(strings.Repeat("a", 1<<20))
	pieces := make([]redact.Text, maxMessageBytes>>20)
	for i := range pieces {
		pieces[i] = piece
	}
	for extra, want := range map[int]error{0: nil, 1: ErrLine} {
		c := &Content{}
		c.Line(piece) // the limit is that of one line
		c.Line(append(pieces[:len(pieces):len(pieces)], r.Text(strings.Repeat("b", extra)))...)
		if _, err := c.blob(); !errors.Is(err, want) {
			t.Errorf("%d bytes more: %v, want %v", extra, err, want)
		}
	}
	if err := checkBody(`{"a":"` + strings.Repeat("a", MaxLogLine) + `"}`); !errors.Is(err, ErrLine) {
		t.Errorf("a line of a log: %v, want ErrLine", err)
	}
	summary := r.Text(`"` + strings.Repeat("a", maxSummaryBytes) + `"`)
	s := &Session{}
	if _, err := s.Summary(t.Context(), 1, summary); !errors.Is(err, ErrLine) {
		t.Errorf("a summary: %v, want ErrLine", err)
	}
	if _, err := s.SummaryDraft(summary).blob(nil); !errors.Is(err, ErrLine) {
		t.Errorf("a draft of a summary: %v, want ErrLine", err)
	}
}
