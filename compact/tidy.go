package compact

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// The reduction of results on arrival is not a compaction, because it changes nothing
// that was sent. Such a call makes no step; it appends to edits.jsonl, with a short
// time limit. Results that were not archived in time are sent whole. If their line is
// stored after all, a void line after it says that no view used it.

func tidyStage(c *Config) tidy.Stage {
	return tidy.Stage{Options: tidy.Options{Large: c.Tidy.LargeTokens, Off: c.Tidy.Off}, ExcludeTools: c.Tidy.ExcludeTools}
}

// tidyFirst returns the names of stages with tidy first, so that the others see
// the reduced results.
func tidyFirst(names []string) []string {
	if !slices.Contains(names, tidy.StageName) {
		return names
	}
	others := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == tidy.StageName })
	return append([]string{tidy.StageName}, others...)
}

// sentWhole holds the results after the last answer that a call sent unreduced. If that
// call got no answer, they come again and must stay unchanged. The lane's lock guards
// it.
type sentWhole struct {
	from    int // index of the first message after the last answer, in the history of that call
	results map[message.Fingerprint]bool
}

// has reports whether a result was sent whole.
func (s sentWhole) has(m *message.Message) bool {
	return len(s.results) > 0 && s.results[m.Fingerprint()]
}

// wasSent returns the results after the last answer that the previous call sent whole,
// if that call got no answer. It was a call of this process, or one of any process that
// committed a step. An equal result of a later call is not included. The return value
// refers to no data of the call, because views keep it.
func (c *call) wasSent() sentWhole {
	from := afterAnswer(c.history)
	if c.lane.sent.from == from {
		return c.lane.sent
	}
	to := c.s.seenBeyond(from, c.history, c.q.owner(), c.ep.engine.Pins)
	return sentWhole{from: from, results: resultsOf(c.history[from:to])}
}

// afterAnswer returns the index of the first message after the last answer.
func afterAnswer(msgs []message.Message) int {
	i := len(msgs)
	for i > 0 && msgs[i-1].Role != message.RoleAssistant {
		i--
	}
	return i
}

// sending records the new results that this call sends unreduced.
func (c *call) sending(failed error) {
	if c.q.dry || !c.tidies() {
		return
	}
	msgs := c.res.Messages
	if failed != nil {
		msgs = c.history
	}
	c.lane.sent = sentWhole{from: afterAnswer(c.history), results: resultsOf(msgs[afterAnswer(msgs):])}
}

func resultsOf(msgs []message.Message) map[message.Fingerprint]bool {
	var of map[message.Fingerprint]bool
	for i := range msgs {
		if msgs[i].Has(message.KindToolResult) {
			if of == nil {
				of = map[message.Fingerprint]bool{}
			}
			of[msgs[i].Fingerprint()] = true
		}
	}
	return of
}

func (c *call) tidies() bool { return slices.Contains(c.ep.cfg.Policy.Stages, tidy.StageName) }

// onlyTidied reports whether a run without a due compaction only reduced new
// results.
func onlyTidied(q reduce.Request, out *reduce.Outcome) bool {
	if q.Only != policy.Always {
		return false
	}
	for i := range out.Passes {
		if p := &out.Passes[i]; p.Applied > 0 && p.Stage != tidy.StageName {
			return false
		}
	}
	return true
}

// tidied finishes a call that reduced results on arrival.
func (c *call) tidied(ctx context.Context, started time.Time, r *run, out *reduce.Outcome) error {
	before := *c.res
	c.res.Triggered, c.res.Reason = true, trace.ReasonArrival
	if c.q.dry || c.q.observe {
		c.emitDecision(started, r.view)
		if c.q.observe {
			return c.pretend(ctx, out, true)
		}
		c.took(out)
		return nil
	}
	c.took(out)
	step, lines, err := c.editLines(out)
	if err != nil {
		return err
	}
	if !c.s.isVolatile() && !c.s.sentWhole(&step) {
		appended := c.m.now()
		w, why := c.appendInTime(ctx, step, lines)
		if why == nil {
			return c.tidiedAs(ctx, started, r, out, step, w, appended)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		before.Warnings = append(before.Warnings, c.m.redactor.Text("tidy: "+why.Error()+"; the results went out whole").String())
	}
	*c.res, c.did = before, nil
	c.countTidied(nil)
	return c.unchanged(started, r, reduce.Request{Only: policy.Always}, &reduce.Outcome{View: r.view, Conversation: c.now.conv})
}

// appendInTime appends lines, and waits at most tidy.wait for the append. If it returns
// an error, the lines are not stored, or not in time, and are void for this process. A
// void line follows them, which makes them void for other processes if they are stored
// after all.
func (c *call) appendInTime(ctx context.Context, step ledger.Step, lines []redact.Text) (record.EditsWritten, error) {
	type answer struct {
		w   record.EditsWritten
		err error
	}
	written, late := make(chan answer, 1), make(chan struct{})
	s := c.s
	begun := c.m.uses.start(ctx, func(ctx context.Context) {
		var err error
		defer c.m.rescue("the archive", &err)
		var w record.EditsWritten
		w, err = s.log.Edits(ctx, lines)
		written <- answer{w, err}
		<-late
		if err != nil || len(written) > 0 { // a part may be stored, or the call did not wait for the append to end
			_ = s.appendVoid(ctx, &step)
		}
	})
	if !begun {
		close(late)
		return record.EditsWritten{}, ErrClosed
	}
	defer close(late)
	wait := time.NewTimer(c.ep.cfg.Tidy.Wait)
	defer wait.Stop()
	select {
	case a := <-written:
		if a.err != nil {
			s.makeVoid(&step) // a part may be stored
		}
		return a.w, a.err
	case <-wait.C:
		s.makeVoid(&step)
		return record.EditsWritten{}, fmt.Errorf("the archive did not store them within %s (tidy.wait)", c.ep.cfg.Tidy.Wait)
	case <-ctx.Done():
		s.makeVoid(&step)
		return record.EditsWritten{}, ctx.Err()
	}
}

// tidiedAs finishes a call whose originals are archived.
func (c *call) tidiedAs(ctx context.Context, started time.Time, r *run, out *reduce.Outcome, step ledger.Step, w record.EditsWritten, appended time.Time) error {
	c.emitDecision(started, r.view)
	c.tellStored(c.editsStored(w, nil, len(step.Evicted), appended))
	c.telling.made = out
	step.Seq, step.Off = w.Seq, w.Off
	c.s.mu.Lock()
	c.s.learnEdit(step)
	c.s.mu.Unlock()
	if c.overtaken(ctx, w) && !c.lastAttempt {
		return errStale
	}
	c.rememberEdits(out, step.Seq)
	c.res.Archived = c.place([]record.Written{w.Written})
	err := c.tellEdits(ctx)
	c.res.Timing.Commit = c.m.now().Sub(appended)
	return err
}

func (s *session) makeVoid(e *ledger.Step) {
	v := *e
	v.Kind = ledger.KindVoid
	s.mu.Lock()
	defer s.mu.Unlock()
	s.edits.Add(v)
}

// sentWhole reports whether a process has sent the results of a step whole.
func (s *session) sentWhole(e *ledger.Step) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.edits.Whole(e)
}

// appendVoid appends a void line for other processes.
func (s *session) appendVoid(ctx context.Context, e *ledger.Step) error {
	raw, err := json.Marshal(ledger.Edit{Edit: s.toStore(ledger.Step{Session: e.Session, Agent: e.Agent, Branch: e.Branch, Kind: ledger.KindVoid, Model: e.Model, Window: e.Window, In: e.In, Out: e.Out, Try: e.Try})})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), voidTimeout) // Close must not cancel it
	defer cancel()
	_, err = s.log.Edits(ctx, []redact.Text{s.redactor.Record(raw)})
	return err
}

// voidTimeout limits the append of a void line, and therefore the time that Close waits
// for it.
const voidTimeout = 5 * time.Second
