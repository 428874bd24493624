package compact_test

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// mostPerMessage is the maximum number of bytes that a call allocates per known
// message of a history: for the view, the description of the message, and a copy of
// the messages if it edits some.
const mostPerMessage = 480

// The allocations of a call with one more turn do not depend on the number of
// earlier edits, and are small for old messages, with every preset.
func TestCallAllocatesOnlyForNewMessages(t *testing.T) {
	for i, preset := range compact.Presets() {
		if i%samples.Every(1) != 0 {
			continue
		}
		t.Run(preset, func(t *testing.T) {
			const few, many = 160, 480
			bytes := callBytes(t, preset, few, many)
			per := (bytes[1] - bytes[0]) / ((many - few) * 2)
			if per > mostPerMessage {
				t.Errorf("a call allocates %d bytes for each message that it knows (%d KB at %d turns, %d KB at %d), at most %d are wanted",
					per, bytes[0]>>10, few, bytes[1]>>10, many, mostPerMessage)
			}
		})
	}
}

// callBytes returns the bytes that a call allocates at some lengths of a session, in
// turns: the median of 24 calls.
func callBytes(t *testing.T, preset string, turns ...int) (bytes []int64) {
	t.Helper()
	ctx := context.Background()
	m := costManager(t, preset, memory.New())
	defer func() { _ = m.Close(ctx) }()
	history := costHistory(slices.Max(turns))
	var all []int64
	for n := range history {
		if history[n].Role != message.RoleTool {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := m.Preflight(ctx, "s", history[:n+1]); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if all = append(all, int64(after.TotalAlloc-before.TotalAlloc)); slices.Contains(turns, len(all)) {
			last := slices.Sorted(slices.Values(all[len(all)-24:]))
			bytes = append(bytes, last[len(last)/2])
		}
	}
	return bytes
}
