package replay

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
)

// timed returns a session with messages 10 seconds apart, and a night before call 20.
func timed() *Session {
	s := session("a", 40)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range s.Messages {
		if at = at.Add(10 * time.Second); i == s.Calls()[20]-1 {
			at = at.Add(8 * time.Hour)
		}
		s.Times = append(s.Times, at)
	}
	return s
}

func TestRecordedGapsLetTheCacheGoCold(t *testing.T) {
	card, _ := price.For("claude-sonnet-4-5")
	o := Options{Policies: []Policy{Raw()}, Card: card, Recorded: true}
	slept := run(t, o, timed()).Rows[0]
	o.Recorded, o.Gap = false, 20*time.Second
	awake := run(t, o, timed()).Rows[0]
	cold := slept.Points[20].Tokens
	if got := awake.Usage.Cached - slept.Usage.Cached; got <= cold/2 || got > cold {
		t.Errorf("%d tokens less come from the cache, want those that call 20 shares with the one before it (of %d)", got, cold)
	}
	if slept.Usage.Written-awake.Usage.Written != awake.Usage.Cached-slept.Usage.Cached {
		t.Error("uncached tokens were not written")
	}
}

func TestGapsAreFromPromptToPrompt(t *testing.T) {
	s := timed()
	gaps, err := gapsOf(s)
	if err != nil || len(gaps) != 40 || gaps[0] != 0 || gaps[1] != 20*time.Second || gaps[20] != 8*time.Hour+20*time.Second {
		t.Fatalf("%v, %v", gaps, err)
	}
	s.Times[s.Calls()[3]-1] = time.Time{} // the time of the answer is used instead
	if gaps, err = gapsOf(s); err != nil || gaps[3] != 30*time.Second || gaps[4] != 10*time.Second {
		t.Errorf("%v, %v", gaps[:6], err)
	}
	s.Times[s.Calls()[5]-1] = s.Times[0] // clocks that go back
	if gaps, err = gapsOf(s); err != nil || gaps[5] != 0 {
		t.Errorf("%v, %v", gaps[:7], err)
	}
	s.Times[s.Calls()[7]-1], s.Times[s.Calls()[7]] = time.Time{}, time.Time{}
	if _, err = gapsOf(s); err == nil || !strings.Contains(err.Error(), "a: message 17 has no time stamp") {
		t.Errorf("the error is %v", err)
	}
}

func TestASessionWithoutTimesIsNamed(t *testing.T) {
	rep := run(t, Options{Policies: []Policy{Raw()}, Recorded: true}, session("none", 5), timed())
	if rep.Sessions != 1 || len(rep.Errors) != 1 || !strings.Contains(rep.Err().Error(), "none: message 3 has no time stamp") {
		t.Errorf("%d sessions, %v", rep.Sessions, rep.Err())
	}
}

func TestPolicyClockFollowsTheGaps(t *testing.T) {
	w := &watch{Policy: Raw()}
	run(t, Options{Policies: []Policy{w}, Recorded: true}, timed())
	if len(w.seen) < 21 || w.seen[1].Sub(w.seen[0]) != 20*time.Second || w.seen[20].Sub(w.seen[19]) < 8*time.Hour {
		t.Errorf("the clock shows %v", w.seen)
	}
}

// watch is a policy that reads its clock.
type watch struct {
	Policy
	seen []time.Time
}

func (w *watch) Begin(ctx context.Context, s *Session, e Env) (Runner, error) {
	r, err := w.Policy.Begin(ctx, s, e)
	return lookCounter{r, func() { w.seen = append(w.seen, e.Now()) }}, err
}

type lookCounter struct {
	Runner
	look func()
}

func (l lookCounter) View(ctx context.Context, h []message.Message) (View, error) {
	l.look()
	return l.Runner.View(ctx, h)
}
