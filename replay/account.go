package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// An Account is the archived record of one session: each call, each compaction,
// and the removed messages. Its text is redacted, like the archive. Tokens are
// the recorded counts; costs are estimated from them.
type Account struct {
	Session  string           `json:"session"`
	Location string           `json:"location"`
	Held     string           `json:"held,omitempty"` // reason why nothing of the session may be erased
	Calls    []AccountCall    `json:"calls"`          // by time
	Steps    []AccountStep    `json:"steps"`          // by number
	Between  []AccountEdit    `json:"between_steps"`  // edits of calls that made no step, in order
	Errors   []AccountProblem `json:"errors"`
	Recalls  []AccountRecall  `json:"recalls"` // calls of the recall tool in the archived messages
	Usages   []AccountUsage   `json:"usages"`  // usage that the provider reported
	Money    AccountMoney     `json:"money"`

	Edited int `json:"messages_edited"`     // different messages that were edited or removed, in steps and between them
	Lost   int `json:"messages_unreadable"` // the messages among them that the archive lacks or can't read

	summaries []summaryCost
}

// An AccountCall is one call of the hook. Window, In and Sent are in tokens, costs in US
// dollars.
type AccountCall struct {
	At      time.Time `json:"at"`
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model"`
	Step    int       `json:"step,omitempty"` // the compaction that it made; 0 = none
	Window  int       `json:"max_tokens"`
	In      int       `json:"tokens_in"`   // the whole history, or the view before the call if the log lacks it
	Sent    int       `json:"tokens_sent"` // tokens of the view
	Stage   string    `json:"reduction_stage"`
	Failed  string    `json:"error_type,omitempty"` // the error that the caller got; the number of sent tokens is then unknown
	Refused bool      `json:"refused,omitempty"`    // the provider refused the request or answered with an error: it billed nothing, and no sum includes the call
	Cost    float64   `json:"estimated_prompt_usd"`
	Raw     float64   `json:"projected_raw_prompt_usd"`   // cost with the whole history
	Whole   float64   `json:"projected_whole_prompt_usd"` // the same value, under the key that events use
	Summary float64   `json:"summary_usd,omitempty"`      // price of the summaries that a model wrote in this call

	span    string
	apart   bool // the costs of the call's summaries are in separate events
	before  int  // tokens with the edits of earlier calls
	between bool // the call edited messages without a step, and is not yet matched with these edits

	// Prompt tokens that the calling process knew to be in the provider's
	// cache; 0 = none, or the process had just started.
	cached, cachedRaw int

	bill   recordedBill
	priced bool
}

// An AccountStep is one compaction. Before and After are the tokens of the view.
type AccountStep struct {
	Step    int        `json:"step"`
	At      time.Time  `json:"at"`
	Kind    string     `json:"kind"`
	Agent   string     `json:"agent,omitempty"`
	Model   string     `json:"model"`
	Reason  string     `json:"reason"`
	Note    string     `json:"note,omitempty"`
	Stages  []string   `json:"stages"` // stages that edited a message, in order
	Before  int        `json:"tokens_before"`
	After   int        `json:"tokens_after"`
	Summary string     `json:"summary,omitempty"` // the text that the model reads
	By      string     `json:"summary_by,omitempty"`
	Gone    []GoneLine `json:"gone"`
	Missing int        `json:"gone_unreadable,omitempty"` // messages that the archive lacks or can't read
}

// Why returns the reason of the step in words.
func (s *AccountStep) Why() string { return why(s.Reason) }

// A GoneLine is one message that a compaction edited or removed.
type GoneLine struct {
	Role   string `json:"role"`
	Tool   string `json:"tool,omitempty"`
	Tokens int    `json:"tokens"` // of the archived, redacted message, in o200k_base
	Ref    string `json:"ref"`    // reference for the recall tool
	Is     string `json:"is"`     // decision on the message
	Words  string `json:"words"`  // its first words
}

// An AccountProblem is a failure and its fallback.
type AccountProblem struct {
	At       time.Time `json:"at"`
	Agent    string    `json:"agent,omitempty"`
	Step     int       `json:"step,omitempty"`
	Type     string    `json:"error_type"`
	Fallback string    `json:"fallback"`
	Message  string    `json:"message"`

	call string // span of its call; "" = unknown
}

// GotOver reports whether there was a fallback.
func (p *AccountProblem) GotOver() bool { return p.Fallback != "" && p.Fallback != "none" }

// lostRace reports whether another process committed first, which changes no
// view.
func (p *AccountProblem) lostRace() bool { return p.Type == "CommitLost" }

// An AccountRecall is one call of the recall tool.
type AccountRecall struct {
	At     time.Time `json:"at"` // time of the step that archived the call
	Agent  string    `json:"agent,omitempty"`
	Asked  string    `json:"asked"`
	Tokens int       `json:"tokens"` // tokens of the answer; 0 = the answer is not archived
}

// An AccountUsage is the usage that the provider reported for one call, in tokens and in
// US dollars.
type AccountUsage struct {
	At     time.Time `json:"at"`
	Agent  string    `json:"agent,omitempty"`
	Prompt int       `json:"prompt_tokens_measured"`
	Cached int       `json:"cached_tokens_measured"`
	Output int       `json:"output_tokens_measured"`
	USD    float64   `json:"measured_usd"` // 0 if no price for the model was known
}

// AccountMoney is the cost of the prompts in US dollars, as the bills of the calls
// estimate it; see [Account.price] for other cases. Only Measured was billed.
type AccountMoney struct {
	Card      string  `json:"prices"` // the price cards
	Sent      float64 `json:"estimated_prompts_usd"`
	Raw       float64 `json:"projected_raw_prompts_usd"`
	Whole     float64 `json:"projected_whole_prompts_usd"` // the same value as Raw, under the key that events use
	Measured  float64 `json:"measured_usd"`                // the provider's bill for the calls of Usages, answers included
	Summaries float64 `json:"summaries_usd"`               // price of the summaries that models wrote, including unused ones
	// part of Summaries: answers without a usage, and requests that were cut off
	Estimated float64 `json:"summaries_estimated_usd,omitempty"`
	Priced    bool    `json:"priced"`                        // false: no price card is known, or the card has only ratios
	Unpriced  int     `json:"calls_without_price,omitempty"` // calls that the sums do not include, although they include other calls
}

// event holds the parts of an audit log line that are used.
type event struct {
	Name  string    `json:"name"`
	Agent string    `json:"agent"`
	Span  string    `json:"span_id"`
	Call  string    `json:"parent_id"` // span of the call
	Start time.Time `json:"started_at"`
	Data  struct {
		Model     string   `json:"model"`
		Triggered bool     `json:"triggered"`
		Step      int      `json:"step"`
		In        *int     `json:"tokens_in"`
		Before    int      `json:"tokens_before"`
		After     int      `json:"tokens_after"`
		Window    int      `json:"max_tokens"`
		Stage     string   `json:"reduction_stage"`
		Reason    string   `json:"reason"`
		ErrorType string   `json:"error_type"`
		Fallback  string   `json:"fallback"`
		Voids     []string `json:"voids"`
		Message   string   `json:"message"`
		Summary   string   `json:"output_text"`
		Backend   string   `json:"backend"`
		Strategy  string   `json:"strategy"`
		Prompt    int      `json:"prompt_tokens_measured"`
		Cached    int      `json:"cached_tokens_measured"`
		Output    int      `json:"output_tokens_measured"`
		USD       float64  `json:"measured_usd"`
		Relative  bool     `json:"prices_relative"`
		Prices    string   `json:"prices"` // of a summary
		Summaries float64  `json:"summary_usd"`
		Estimated float64  `json:"summary_estimated_usd"`
		Taken     []struct {
			Tool string `json:"tool"`
			Ref  string `json:"ref"`
		} `json:"taken"`
		Bill struct {
			recordedBill
			Summary float64 `json:"summary_usd"`
			Paid    string  `json:"summary_prices"`
		} `json:"bill"`
	} `json:"data"`
}

// ledgerData holds the parts of a ledger that are used.
type ledgerData struct {
	Kind    string          `json:"kind"`
	Agent   string          `json:"agent"`
	Branch  string          `json:"branch"`
	Note    string          `json:"note"`
	Model   string          `json:"model"`
	Out     reduce.Link     `json:"out"`
	Try     string          `json:"try"`
	Edits   int64           `json:"edits"` // number of the last line of edits.jsonl before the ledger
	Before  int             `json:"tokens_before"`
	After   int             `json:"tokens_after"`
	Archive string          `json:"archive"`
	Recipes []reduce.Recipe `json:"recipes"`
	Evicted []evicted       `json:"evicted"`
}

// ReadAccount reads the account of a session. card prices its prompts; the zero
// card stands for the card of the last call's model. An unreadable file is an
// error; an unreadable message, or an event of another kind, is left out.
func ReadAccount(ctx context.Context, name string, s *record.Session, card price.Card) (*Account, error) {
	a := &Account{Session: name, Location: s.Location()}
	hold, err := s.Held(ctx)
	if err != nil {
		return nil, err
	}
	if hold.Held {
		a.Held = cmp.Or(hold.Reason, "held")
	}
	logged, err := a.readEvents(ctx, s)
	if err == nil {
		err = a.readSteps(ctx, s, logged)
	}
	if err != nil {
		return nil, err
	}
	if a.Recalls, err = a.readRecalls(ctx, s, logged.archives); err != nil {
		return nil, err
	}
	a.price(card)
	return a, nil
}

// logged holds the facts about steps and refused calls in the events.
type logged struct {
	reasons  map[int]string
	times    map[int]time.Time
	archives []string          // archive files of the steps, in order
	tools    map[string]string // tools by the beginning of the fingerprint of an edited message

	refused   map[string]bool // spans of calls whose requests the provider refused
	decisions []event         // to compact
	voids     map[string]bool // spans of decisions that made no step
}

// take adds an event about a step or a refused call, and reports whether it was one.
func (t *logged) take(e *event) bool {
	switch e.Name {
	case "compact.trigger_decision":
		if e.Data.Triggered {
			t.decisions = append(t.decisions, *e)
		}
	case "compact.refused", "compact.provider_error":
		t.refused[e.Call] = e.Call != ""
	case "compact.pruned_messages":
		for _, x := range e.Data.Taken {
			t.tools[x.Ref] = x.Tool
		}
	default:
		for _, span := range e.Data.Voids {
			t.voids[span] = true
		}
		return false
	}
	return true
}

// settle sets the reasons and times of the steps, from the decisions that are valid.
func (t *logged) settle() {
	for i := range t.decisions {
		if e := &t.decisions[i]; !t.voids[e.Span] {
			t.reasons[e.Data.Step], t.times[e.Data.Step] = e.Data.Reason, e.Start
		}
	}
}

func (a *Account) readEvents(ctx context.Context, s *record.Session) (*logged, error) {
	t := &logged{reasons: map[int]string{}, times: map[int]time.Time{}, tools: map[string]string{}, refused: map[string]bool{}, voids: map[string]bool{}}
	// spans maps the span of a call to its index. Some events are in the log twice: those of a call
	// that lost the race for its step number, and those that the archive stored before it reported
	// an error.
	spans := map[string]int{}
	for line, err := range s.EventLines(ctx) {
		if err != nil {
			return nil, err
		}
		var e event
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		if !t.take(&e) {
			a.take(&e, spans)
		}
	}
	t.settle()
	for i := range a.Calls {
		a.Calls[i].Refused = t.refused[a.Calls[i].span]
	}
	a.addSummaries()
	for i := range a.Usages {
		a.Money.Measured += a.Usages[i].USD
	}
	slices.SortStableFunc(a.Calls, func(x, y AccountCall) int { return x.At.Compare(y.At) })
	return t, nil
}

// take adds a call, its usage or an error. spans holds the index of each known
// span. The last event of a call counts; of its usages and errors, the first
// counts.
func (a *Account) take(e *event, spans map[string]int) {
	d := &e.Data
	at, known := spans[e.Span]
	known = known && e.Span != ""
	switch e.Name {
	case "before_model_call":
		if c := callOf(e); known {
			a.Calls[at] = c
		} else {
			spans[e.Span] = len(a.Calls)
			a.Calls = append(a.Calls, c)
		}
	case "compact.summarize":
		if !known {
			spans[e.Span] = len(a.summaries)
			a.summaries = append(a.summaries, summaryCost{e.Start, e.Agent, d.Prices, d.Summaries, d.Estimated, d.Relative})
		}
	case "compact.usage":
		if known {
			return
		}
		spans[e.Span] = len(a.Usages)
		u := AccountUsage{At: e.Start, Agent: e.Agent, Prompt: d.Prompt, Cached: d.Cached, Output: d.Output}
		if !d.Relative {
			u.USD = d.USD
		}
		a.Usages = append(a.Usages, u)
	case "compact.error":
		if !known {
			spans[e.Span] = a.failed(e)
		}
	}
}

// failed adds an error, and returns its index. A call can report one failure
// twice, for example for a late summary: then the last fallback is the real one.
func (a *Account) failed(e *event) int {
	d := &e.Data
	p := AccountProblem{e.Start, e.Agent, d.Step, d.ErrorType, d.Fallback, d.Message, e.Call}
	for i := len(a.Errors) - 1; i >= 0 && p.call != ""; i-- {
		if was := &a.Errors[i]; was.call == p.call && was.Message == p.Message {
			was.Type, was.Fallback = p.Type, p.Fallback
			return i
		}
	}
	a.Errors = append(a.Errors, p)
	return len(a.Errors) - 1
}

// changed adds a changed ledger, unless an event reports it.
func (a *Account) changed(step int, at time.Time, what string) {
	const kind = "ArchiveChanged"
	for i := range a.Errors {
		if was := &a.Errors[i]; was.Type == kind && was.Message == what {
			was.Step = step
			return
		}
	}
	a.Errors = append(a.Errors, AccountProblem{At: at, Step: step, Type: kind, Message: what})
}

func callOf(e *event) AccountCall {
	d := &e.Data
	c := AccountCall{
		At: e.Start, Agent: e.Agent, Model: d.Model, Step: d.Step, Window: d.Window, In: d.Before, Sent: d.After, Stage: d.Stage, Failed: d.ErrorType,
		span: e.Span,
	}
	if d.In != nil {
		c.In = *d.In
	}
	if !d.Bill.Relative {
		c.Summary, c.apart = d.Bill.Summary, d.Bill.Paid != ""
	}
	c.before, c.between, c.bill = d.Before, d.Triggered && d.Step == 0, d.Bill.recordedBill
	if card, known := price.For(d.Model); known && card.String() == d.Bill.Prices {
		c.cached, c.cachedRaw = cachedAt(card, c.Sent, d.Bill.Prompt), cachedAt(card, c.In, d.Bill.Whole)
	}
	return c
}

// readSteps reads the steps, and the edits between them.
func (a *Account) readSteps(ctx context.Context, s *record.Session, t *logged) error {
	edits, err := readEdits(ctx, s, t.tools)
	if err != nil {
		return err
	}
	a.Between = a.dated(edits)
	way := newCourse(a.Between)
	for l, err := range s.Ledgers(ctx, 1) {
		if err != nil {
			return err
		}
		if l.Changed != nil {
			a.changed(l.Step, t.times[l.Step], l.Changed.Error())
			continue
		}
		if err := a.readStep(ctx, s, l, t, way); err != nil {
			return err
		}
	}
	a.Edited, a.Lost = way.total()
	return nil
}

func (a *Account) readStep(ctx context.Context, s *record.Session, l record.Ledger, t *logged, way *course) error {
	var from ledgerData
	if err := json.Unmarshal(l.Data, &from); err != nil {
		return fmt.Errorf("ledger of step %d: %w", l.Step, err)
	}
	step := AccountStep{
		Step: l.Step, At: t.times[l.Step], Kind: from.Kind, Agent: from.Agent, Model: from.Model, Note: from.Note,
		Reason: t.reasons[l.Step], Stages: from.stages(), Before: from.Before, After: from.After,
	}
	step.Summary, step.By = from.summary()
	gone, missing, err := readGone(ctx, s, from.Archive, way.own(&from))
	if err != nil {
		return err
	}
	way.step(&from)
	step.Gone, step.Missing = gone, missing
	t.archives = append(t.archives, from.Archive)
	a.Steps = append(a.Steps, step)
	return nil
}

// summary returns the last summary that a step wrote, and who wrote it.
func (l *ledgerData) summary() (text, author string) {
	for _, r := range l.Recipes {
		if r.Cut != nil && r.Cut.Summary != nil && r.Cut.Summary.Text != "" {
			text, author = r.Cut.Summary.Text, by(r.Cut.Summary)
		}
	}
	return text, author
}

func by(s *policy.SummaryInfo) string {
	who := s.Strategy + " by " + s.Backend
	if s.Model != "" {
		who += " (" + s.Model + ")"
	}
	return who
}

// isGone reports whether a file no longer exists.
func isGone(err error) bool { return errors.Is(err, storage.ErrNotExist) }
