package storage

import (
	"errors"
	"io"
	"testing"
)

// filled is a reader of so many bytes without a line feed.
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

// A message with a large file is a line of a transcript, and is more than a log takes.
func TestLinesOfTranscriptsAreReadAboveTheLimitOfLogs(t *testing.T) {
	f, n := filled(maxLineBytes+1), 0
	err := eachMessage(t.Context(), &f, func(l rawLine) error {
		n += len(l.text)
		return nil
	})
	if err != nil || n != maxLineBytes+1 {
		t.Errorf("%d bytes, %v", n, err)
	}
	f = maxLineBytes + 1
	if err := eachLine(t.Context(), &f, 0, func(rawLine) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("a log: %v", err)
	}
}
