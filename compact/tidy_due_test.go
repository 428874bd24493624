package compact_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

// nearTrigger returns a history just below the trigger of tidyConfig with a mask, and
// the same history with a large result at its end. With the whole result this history
// exceeds the trigger; with the reduced result it does not.
func nearTrigger() (below, above []message.Message) {
	below = tidyLoop(0)
	for i := range 95 {
		id := fmt.Sprintf("near_%d", i)
		call := message.Call(id, "bash", fmt.Sprintf(`{"command":"next %d"}`, i))
		below = append(below, message.Assistant("I go on.", call), message.ToolResult(id, letters(uint64(i), 600)))
	}
	return below, append(below[:len(below):len(below)], tidyRound(200)[0], message.ToolResult("call_200", sourceFile(200, 400)))
}

// letters returns a result that no reducer changes.
func letters(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]byte, 0, 4*n)
	for range n {
		out = append(out, byte('a'+r.IntN(26)), byte('a'+r.IntN(26)), byte('a'+r.IntN(26)), ' ')
	}
	return string(out)
}

func TestNoCompactionIsDueIfTheNewResultsAreReduced(t *testing.T) {
	below, above := nearTrigger()
	m := costRig(t, tidyConfig(memory.New(), "mask"))
	first := viewOf(t, m, below)
	if first.Triggered {
		t.Fatalf("%d tokens trigger at %d", first.Before.Total, first.Trigger)
	}
	res := viewOf(t, m, above)
	if res.Reason != trace.ReasonArrival || res.Step != 0 || res.Before.Total < res.Trigger || res.After.Total >= res.Trigger {
		t.Fatalf("%s, step %d: %d to %d tokens, the trigger is %d", res.Reason, res.Step, res.Before.Total, res.After.Total, res.Trigger)
	}
	for i := range below {
		if !message.Identical(first.Messages[i], res.Messages[i]) {
			t.Fatalf("message %d was sent before, and differs now", i)
		}
	}
	if again := viewOf(t, m, above); again.After.Total != res.After.Total || again.Triggered {
		t.Errorf("the same call again: %s, %d tokens, not %d", again.Reason, again.After.Total, res.After.Total)
	}
}

// An archive that does not store the edits, or not in time, leaves the results whole, so
// that the compaction is due after all.
func TestACompactionIsDueIfTheNewResultsStayWhole(t *testing.T) {
	_, above := nearTrigger()
	hold := make(chan struct{})
	for name, a := range map[string]*slowEdits{"late": {hold: hold}, "refused": {fail: errors.New("read-only")}} {
		t.Run(name, func(t *testing.T) {
			mem := memory.New()
			a.Archive = mem
			c := tidyConfig(a, "mask")
			c.Tidy.Wait = time.Millisecond
			m, release := costRig(t, c), sync.OnceFunc(func() {})
			if a.hold != nil {
				release = sync.OnceFunc(func() { close(a.hold) })
			}
			t.Cleanup(release) // a test that fails does not wait for the archive
			res := viewOf(t, m, above)
			if res.Reason != trace.ReasonUsage || res.Step != 1 || res.After.Total > res.Target {
				t.Fatalf("%s, step %d: %d of %d tokens, the target is %d", res.Reason, res.Step, res.After.Total, res.Before.Total, res.Target)
			}
			release()
			if err := m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			other := viewOf(t, costRig(t, tidyConfig(mem, "mask")), above)
			if again := viewOf(t, m, above); bytesOf(again.Messages) != bytesOf(res.Messages) || bytesOf(other.Messages) != bytesOf(res.Messages) {
				t.Error("the same history gives another view")
			}
			verified(t, mem)
		})
	}
}

func viewOf(t *testing.T, m *compact.CompactManager, h []message.Message) *compact.Result {
	t.Helper()
	res, err := m.Preflight(t.Context(), "s", h)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// The tokens that a reduction at arrival removes do not count as growth, so a compaction
// makes no room for them.
func TestReducedResultsAreNoGrowth(t *testing.T) {
	below, _ := nearTrigger()
	m := costRig(t, tidyConfig(memory.New(), "summarize"))
	h := parallel(below, 1, 6)
	first := viewOf(t, m, h)
	if first.Step != 1 || first.After.Total > first.Target {
		t.Fatalf("step %d, %d tokens, the target is %d", first.Step, first.After.Total, first.Target)
	}
	h = parallel(h, 2, 18)
	if res := viewOf(t, m, h); res.Triggered {
		t.Fatalf("%d tokens trigger at %d", res.Before.Total, res.Trigger)
	}
	res := viewOf(t, m, parallel(h, 3, 18, message.ToolResult("source_3", sourceFile(3, 500))))
	if gap := res.Trigger - res.Target; res.Step != 2 || res.Before.Total-first.After.Total < 2*gap {
		t.Fatalf("step %d, %d tokens after %d, want 2", res.Step, res.Before.Total, first.After.Total)
	}
	if res.After.Total > res.Target || res.After.Total < res.Target*7/10 {
		t.Errorf("%d tokens are left, the target is %d", res.After.Total, res.Target)
	}
}

// parallel returns h, followed by an answer with n calls, their results, and more.
func parallel(h []message.Message, round, n int, more ...message.Message) []message.Message {
	var calls []message.Part
	var results []message.Message
	for i := range n {
		id := fmt.Sprintf("parallel_%d_%d", round, i)
		calls = append(calls, message.Call(id, "bash", fmt.Sprintf(`{"command":"next %s"}`, id)))
		results = append(results, message.ToolResult(id, letters(uint64(1000*round+i), 600)))
	}
	if len(more) > 0 {
		calls = append(calls, message.Call(fmt.Sprintf("source_%d", round), "Read", `{"file_path":"/src/s.go"}`))
	}
	return slices.Concat(h, []message.Message{message.Assistant("More.", calls...)}, results, more)
}

// The economic trigger predicts the growth of a session from the tokens that were sent.
func TestTheEconomicTriggerCountsGrowthAsSent(t *testing.T) {
	c := tidyConfig(memory.New(), "mask")
	c.Policy.When = policy.Economic
	h := tidyLoop(30)
	least := 0
	last := eachCall(t, costRig(t, c), h, func(_ int, res *compact.Result) {
		for _, x := range res.Candidates {
			if gap := x.Due - x.Level; least == 0 || gap < least {
				least = gap
			}
		}
	})
	// A compaction removes at least the growth of four calls. If that growth included the
	// tokens that were never sent, each gap would be at least four times saved.
	if saved := (last.TokensIn - last.After.Total) / 30; least == 0 || saved < 5000 || least > 2*saved {
		t.Errorf("a candidate is due after %d tokens at the earliest, although each result has %d tokens that were never sent", least, saved)
	}
}

// A body that is too large needs its compaction, also if the reduction of the new results
// frees enough tokens.
func TestABodyThatIsTooLargeIsCompactedBesidesTheReduction(t *testing.T) {
	_, above := nearTrigger()
	file := message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindFile, Media: &message.Media{MIME: "application/x-none", Name: "a.bin", URL: "data:application/x-none;base64," + strings.Repeat("QUJD", 100_000)}}}}
	h := slices.Concat(above[:2:2], []message.Message{file}, above[2:])
	c := tidyConfig(memory.New(), "mask")
	c.MaxRequestBytes, c.MaxContextTokens = 600_000, 128_000
	m := costRig(t, c)
	res := viewOf(t, m, h)
	if res.Before.Total < res.Trigger {
		t.Fatalf("%d tokens, the trigger is %d", res.Before.Total, res.Trigger)
	}
	if res.Reason == trace.ReasonArrival || res.Step != 1 {
		t.Errorf("%s, step %d, want 1", res.Reason, res.Step)
	}
}

// For a model whose tokens can only be estimated, the upper bound of the reduced view has to
// be below the trigger. Otherwise the next call would compact, and change the prefix that
// this call has sent.
func TestAReductionSufficesOnlyByItsUpperBound(t *testing.T) {
	reduced, compacted, step := 0, 0, 10
	if samples.All() {
		step = 5
	}
	for rounds := 60; rounds < 130; rounds += step {
		h := tidyLoop(0)
		for i := range rounds {
			id := fmt.Sprintf("near_%d", i)
			h = append(h, message.Assistant("I go on.", message.Call(id, "bash", fmt.Sprintf(`{"command":"next %d"}`, i))), message.ToolResult(id, letters(uint64(i), 600)))
		}
		h = append(h, tidyRound(200)[0], message.ToolResult("call_200", sourceFile(200, 400)))
		c := tidyConfig(memory.New(), "mask")
		c.Model = "claude-sonnet-4-5"
		m := costRig(t, c)
		res := viewOf(t, m, h)
		switch {
		case res.Step > 0:
			compacted++
		case res.Reason == trace.ReasonArrival:
			if again := viewOf(t, m, h); again.Step > 0 {
				t.Errorf("%d rounds: the same call again compacts (%s)", rounds, again.Reason)
			}
			reduced++
		}
	}
	if reduced == 0 || compacted == 0 {
		t.Errorf("%d views are reduced, %d are compacted", reduced, compacted)
	}
}
