package compact

import (
	"context"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// call is one call of the manager in progress: its request, the facts that it knows,
// its outcome, and its telemetry. Its lane is locked while it runs, so that its fields
// need no lock.
type call struct {
	m *CompactManager
	asker
	ep   *epoch
	s    *session
	lane *lane

	knowledge // new at each attempt
	outcome   // new at each attempt
	res       *Result

	summaries summaryCost       // cost of summaries by a model, of all attempts
	left      int               // tokens of this prompt that the previous prompt left in the cache, if the provider has a cache
	leftWhole int               // the same for the prompt with the whole history
	charged   Bill              // the bill in the sums of the session; zero: none
	broken    *trace.CacheBreak // where this prompt differs from the previous one; nil: it continues the previous one
	teller
}

// asker holds the caller and the request. It does not change while the call runs.
type asker struct {
	q       request
	id      string            // as nameOf returns it, like the agent and the branch in q
	asked   names             // names as the caller gave them
	history []message.Message // as the stages see it, with the protection by the caller's function
	input   []message.Message // the history of the caller
	rules   *legality         // rules of the provider; nil = unknown provider
	outside int               // bytes of the body outside of messages; 0 = not computed
	began   time.Time
	entered time.Time   // start by the real clock, for deadlines
	label   redact.Text // id for events
	agent   redact.Text
}

// knowledge holds the facts on which an attempt of a call bases its decision: the
// view after the known steps, the size of the view, and the limits.
type knowledge struct {
	now       replayed // the history with the edits of earlier steps applied
	seen      int      // number of the session's steps that the decision knew
	seenEdits int64    // number of the last edit in edits.jsonl that the decision knew

	fixed int // tokens of tool schemas, reply primer and other fixed parts
	tools int

	budget policy.Budget // budget of the epoch, with the limits of this call
	unsent int           // tokens of new results that the stage tidy removes before a compaction that is due
	last   int           // tokens after the last compaction with this model and window, by the upper bound; 0 = none
	stops  []int         // positions of cache marks in tokens; nil = not computed

	lastAttempt bool // the decision is final; commits of others have no effect on it
}

// outcome holds the decision of one attempt of a call, and its actions. The result
// and the events are derived from it.
type outcome struct {
	decision *decision     // nil = not decided yet
	nextDue  int           // size of the view above the trigger at which the next compaction is due
	floor    int           // smallest possible size of the view, if it prevents a compaction
	offer    *policy.Offer // offer that the economic trigger chose; nil = none
	soon     *policy.Offer // offer that it will choose soon

	shown    *reduce.Conversation // conversation of the result's messages; nil: the unchanged history
	did      *deeds               // messages that this call changed; nil = none
	outChain *reduce.Chain        // chain of the conversation after the commit

	summary     *policy.SummaryInfo // summary that this call made
	summaryFile record.Written      // its file; the zero value: not stored, or unknown
	late        bool                // its summary is not ready in time
	lateTold    bool                // an event reports it
	cause       string              // cause of a missing model summary
	unarchived  bool                // the archive failed, and the call continues
}

// decision is the decision of a call, with every number and the limit that it was
// compared with.
type decision struct {
	trace.TriggerDecision
	began, ended time.Time
}

// teller holds the telemetry of a call: the ids of its events, and the events to
// emit.
type teller struct {
	trace, span, root string
	sessionBegan      time.Time // start of the session, if it has one trace
	callers           bool      // the trace belongs to the caller
	working           time.Time // start of the current phase

	events  []redact.Text // lines of this call for the audit log, written with the commit
	unmade  []heldEvent   // events whose lines in events are not made yet
	telling stepEventState
	voids   []string // spans in the audit log of a step that failed, until the event of its failure

	parent  trace.Event // event of the whole call
	title   string      // of its trace; "" = the trace has several calls
	logged  int         // number of the step in the audit line of parent
	storing bool        // its step is being committed
	saved   int         // tokens that this call adds to the session's savings
}

// stepEventState is the part of an outcome whose events are emitted with a step.
// Another process can take the number of the step at the last moment, so exporters
// get the events only when the number is final. The audit log gets them before the
// commit, and another event if the number was lost.
type stepEventState struct {
	decided *decision       // nil = none, or the event is already emitted
	stored  *archival       // nil = none
	made    *reduce.Outcome // nil = none

	said   []trace.Event // events that the log has under number
	number int
	filed  map[string]trace.Event // by span: the log's form of an event whose text is in a file
}

// archival is the payload of an archival event, with the start and the end of the
// write.
type archival struct {
	trace.Archival
	began, ended time.Time
}

func newCall(m *CompactManager, id string, history []message.Message, q request) *call {
	c := &call{m: m, asker: asker{q: q, asked: names{id, q.agent, q.branch}, input: history, history: protect(history, q.pinned), began: m.now()}}
	c.name()
	c.res = &Result{
		Session: id, Agent: q.agent, Manual: q.manual,
		ReductionStage: ReductionNone, CallStage: ReductionNone, InvariantStatus: InvariantsOK,
		Note:  m.redactor.Text(q.note).String(),
		cited: citation{c.q.owner(), c.history},
	}
	return c
}

// name sets session, agent and branch to their names in the archive.
func (c *call) name() {
	c.label, c.agent = c.m.nameOf(c.asked.session), c.m.nameOf(c.asked.agent)
	c.id, c.q.agent = c.label.String(), c.agent.String()
	c.q.branch = branchName(c.m.keys.Ring, c.m.nameOf(c.asked.branch).String())
}

// mark asks the caller's function for the messages to protect, once. It runs on the caller's
// goroutine before the call returns, because the function may use memory that the caller
// changes later.
func (q *request) mark(history []message.Message) {
	if q.pins == nil {
		return
	}
	q.pinned = make([]bool, len(history))
	for i := range history {
		q.pinned[i] = q.pins(history[i])
	}
	q.pins = nil
}

// protect protects the messages that the caller's function named.
func protect(history []message.Message, pinned []bool) []message.Message {
	if pinned == nil {
		return history
	}
	out := slices.Clone(history)
	for i := range out {
		out[i].Protected = out[i].Protected || pinned[i]
	}
	return out
}

// emitsEvents reports whether the call emits events of its own. A dry run emits no events,
// and an observed call emits other events.
func (c *call) emitsEvents() bool { return !c.q.dry && !c.q.observe }

// tellStored schedules the event of an archival, to be emitted with the step.
func (c *call) tellStored(a *archival) {
	if c.emitsEvents() {
		c.telling.stored = a
	}
}

// void returns the ids of the spans in the audit log of a step that is not committed.
// Exporters never got these spans.
func (t *stepEventState) void() (spans []string) {
	for _, e := range t.said {
		spans = append(spans, e.SpanID)
	}
	t.said = nil
	return spans
}

// untouched returns the result of a call without effect.
func untouched(id string, history []message.Message, q request) *Result {
	return &Result{
		Messages: slices.Clone(history), Sources: identity(len(history)), Session: id, Agent: q.agent, Manual: q.manual,
		ReductionStage: ReductionNone, CallStage: ReductionNone, InvariantStatus: InvariantsOK,
	}
}

// changed returns the input messages that the run edited or removed.
func (c *call) changed(out *reduce.Outcome) []int { return c.now.conv.Redecided(out.Conversation) }

// Limits of the time that a call reserves for its work after the summary:
// archive, fallback, commit. It reserves a quarter of the time until the
// deadline, within these limits.
const (
	leastMargin = 50 * time.Millisecond
	mostMargin  = 2 * time.Second
)

// until returns the time at which the call stops waiting for a summary; zero: it waits
// without a limit.
func (c *call) until(ctx context.Context) time.Time {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Time{}
	}
	return end.Add(-min(max(end.Sub(c.entered)/4, leastMargin), mostMargin))
}
