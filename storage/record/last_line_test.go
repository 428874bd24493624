package record

import (
	"runtime"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// A log is read from its end in growing pieces. The part of a line that begins before a
// piece is not kept, so a long last line takes memory once, not once for each piece.
func TestALongLastLineIsKeptOnce(t *testing.T) {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	const size = 20 << 20
	first := link(1, strings.Repeat("0", 64), `{"a":1}`) + "\n"
	a := memory.New()
	k, err := storage.ParseKey("s/events.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Create(t.Context(), k, storage.Redacted(r.Text(first), r.Text(strings.Repeat("x", size)))); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := newChain(a, k, false)
	err = c.load(t.Context())
	runtime.ReadMemStats(&after)
	if err != nil || c.state.seq != 1 || len(c.state.junk) != size {
		t.Errorf("line %d is the last one, and %d bytes follow it: %v; want 1, %d and no error", c.state.seq, len(c.state.junk), err, size)
	}
	// The buffer of the line doubles, and is 64 MiB in all. The line is then copied once.
	if n := after.TotalAlloc - before.TotalAlloc; n > 112<<20 {
		t.Errorf("%d MiB were allocated for a line of %d MiB", n>>20, size>>20)
	}
}
