package compact_test

import (
	"context"
	"fmt"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/histgen"
	"github.com/agentcompact/compact/internal/invariant"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// reminding returns a shape whose system messages recur and make up most of its
// cost.
func reminding(rng *rand.Rand) histgen.Shape {
	return histgen.Shape{
		Rounds: 5 + rng.IntN(15), OneUser: rng.IntN(2) == 0, Preamble: 1 + rng.IntN(2), Middle: 0.3 + 0.5*rng.Float64(), Again: 1 + rng.IntN(2),
		Wire: oneOf(rng, 0, 0.5, 1), Tools: rng.Float64(), Parallel: 1 + rng.IntN(2), Words: 60 + rng.IntN(240), Late: oneOf(rng, 0, 0.2), Protected: oneOf(rng, 0, 0.05),
	}
}

// Older copies of a system message are removed if the view does not fit
// otherwise. All promises hold over chained compactions, in a session whose SDK
// keeps the view, and in another process.
func TestPropertyCopiesOfSystemMessagesChained(t *testing.T) {
	n := samples.Of(16)
	switch {
	case soak():
		n = 4_000
	case testing.Short():
		n = 5
	}
	copies, compactions, refused := 0, 0, 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 23))
		window := 3_000 + rng.IntN(6_000)
		archive := memory.New()
		s := newSessionOn(t, archive, window, seed%2 == 1)
		shape := reminding(rng)
		var last []message.Message
		s.chain(shape.History(rng), 2+rng.IntN(5), func(h []message.Message) []message.Message {
			last = h
			more := shape
			more.Rounds = 1 + rng.IntN(6)
			return more.Grow(h, rng)
		}, func(int) bool { return false })
		s.report(fmt.Sprintf("seed %d, window %d, kept %v", seed, window, s.kept))
		s.elsewhere(archive, last)
		copies, compactions, refused = copies+s.copies, compactions+s.compacts, refused+s.refused
		s.close()
		if t.Failed() && !soak() {
			break
		}
	}
	t.Logf("%d histories, %d compactions, %d copies went, %d refused, every refusal confirmed by the independent floor", n, compactions, copies, refused)
	if copies < n/2 || compactions < n {
		t.Errorf("%d copies were removed in %d compactions: the test proves nothing", copies, compactions)
	}
}

// elsewhere checks that another process with only the archive gives the same
// view of the last history.
func (s *session) elsewhere(archive *memory.Archive, history []message.Message) {
	s.t.Helper()
	if len(s.steps) == 0 || s.steps[len(s.steps)-1].Refused {
		return
	}
	here, err := s.m.Preflight(context.Background(), "s", history)
	if err != nil {
		return
	}
	m, err := compact.New(context.Background(), compact.Config{Model: propertyModel, MaxContextTokens: s.window, Archive: archive})
	if err != nil {
		s.t.Fatal(err)
	}
	there, err := m.Preflight(context.Background(), "s", history)
	if err != nil {
		s.t.Error(err)
	}
	for _, v := range invariant.Same("another process", here.Messages, there.Messages) {
		s.t.Error(v)
	}
	_ = m.Close(context.Background())
}

// The archive has the removed copies before they leave the view, and the event
// names them.
func TestRemovedCopiesAreArchived(t *testing.T) {
	rule := message.System(text(700))
	history := []message.Message{rule}
	for i := range 6 {
		history = append(history, message.User(fmt.Sprint("question ", i)), message.Assistant(fmt.Sprint("answer ", i)), message.System(rule.Text()))
	}
	history = append(history, message.User("and now?"))
	r := newRig(t, compact.Config{MaxContextTokens: 4_500})
	res := r.preflight(history)
	if res.DroppedCount == 0 || res.Archived == nil || res.After.Total > res.Budget {
		t.Fatalf("%d dropped, archived %v, %d of %d tokens", res.DroppedCount, res.Archived, res.After.Total, res.Budget)
	}
	for _, d := range res.Decisions {
		if d.Decision != policy.Dropped {
			continue
		}
		if d.Reason != "duplicate_of" || d.Role != message.RoleSystem {
			t.Errorf("message %d (%s) was removed: %s, want %s and %s", d.Index, d.Role, d.Reason, message.RoleSystem, "duplicate_of")
		}
	}
	if d := res.Decisions[len(history)-2]; d.Decision != policy.Kept {
		t.Errorf("the newest copy is %s, want %s", d.Decision, policy.Kept)
	}
	pruned := r.named("compact.pruned_messages")
	if len(pruned) != 1 || !strings.Contains(pruned[0].Data.String(), testkey.Sealed(rule.Fingerprint()).Ref()) {
		t.Errorf("%d events about pruned messages, or none names the copy", len(pruned))
	}
	report, err := record.Verify(t.Context(), r.archive, "s", record.VerifyOptions{Refs: recall.Refs})
	if err != nil || !report.OK() {
		t.Errorf("verify: %v, %+v", err, report)
	}
	if strings.Contains(allStored(t, r.archive), rule.Fingerprint().String()) {
		t.Error("the archive holds the fingerprint of the copies without a key: guesses of their text can be tested")
	}
}
