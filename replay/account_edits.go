package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/record"
)

// An AccountEdit is the work of one call that made no step: results that the
// stage tidy reduced at arrival, or the edits of a preset that works on every
// call. Before and After are the tokens of the view.
type AccountEdit struct {
	At      time.Time  `json:"at"` // zero if the audit log lacks the call
	Agent   string     `json:"agent,omitempty"`
	Kind    string     `json:"kind"` // "tidy", "always"
	Model   string     `json:"model"`
	Stages  []string   `json:"stages"`
	Before  int        `json:"tokens_before"`
	After   int        `json:"tokens_after"`
	Gone    []GoneLine `json:"gone"`
	Missing int        `json:"gone_unreadable,omitempty"`

	owner
	seq     int64 // number of its line in edits.jsonl
	attempt attempt
	evicted []evicted
}

// owner identifies the views of one agent.
type owner struct{ agent, branch string }

func (l *ledgerData) owner() owner { return owner{l.Agent, l.Branch} }

// An attempt identifies one try of a process to store the edits of a call. If the edits of one try
// are void, those of another process with the same outcome may still be valid.
type attempt struct {
	owner
	out reduce.Link
	try string
}

func (l *ledgerData) attempt() attempt { return attempt{l.owner(), l.Out, l.Try} }

// voidEdit is the kind of a line in edits.jsonl that voids the edits of one attempt. This line can
// precede the edits, if they were stored late.
const voidEdit = "void"

// readEdits reads the edits between steps, oldest first. The originals of an
// edit are in the lines before it. tools maps the beginnings of fingerprints to
// tools.
func readEdits(ctx context.Context, s *record.Session, tools map[string]string) ([]AccountEdit, error) {
	var all []AccountEdit
	var originals [][]byte
	void := map[attempt]bool{}
	for l, err := range s.EditsLines(ctx, 0) {
		if err != nil {
			return nil, err
		}
		var line struct {
			Edit *ledgerData `json:"edit"`
		}
		switch {
		case l.Changed:
			originals = append(originals, nil)
		case json.Unmarshal(l.Body, &line) != nil || line.Edit == nil:
			o, _, _ := l.Original()
			originals = append(originals, bytes.Clone(o))
		case line.Edit.Kind == voidEdit:
			void[line.Edit.attempt()], originals = true, nil
		default:
			all, err = appendEdit(all, line.Edit, l.Seq, originals, tools)
			originals = nil
		}
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(all, func(e AccountEdit) bool { return e.Kind == "tidy" && void[e.attempt] }), nil
}

// appendEdit adds an edit.
func appendEdit(all []AccountEdit, l *ledgerData, seq int64, originals [][]byte, tools map[string]string) ([]AccountEdit, error) {
	e := AccountEdit{
		Agent: l.Agent, Kind: l.Kind, Model: l.Model, Stages: l.stages(), Before: l.Before, After: l.After,
		owner: l.owner(), seq: seq, attempt: l.attempt(), evicted: l.Evicted,
	}
	count, err := counter()
	if err != nil {
		return nil, err
	}
	first := len(originals) - len(l.Evicted)
	for k := range e.evicted {
		x := &e.evicted[k]
		var m archivedLine
		ok := false
		if first+k >= 0 {
			m, ok = parseLine(originals[first+k])
		}
		if x.lost = !ok; x.lost {
			e.Missing++
			continue
		}
		line := goneLine(count, &m, nil, x)
		if line.Tool == "" {
			line.Tool = tools[shortFP(x.FP)]
		}
		e.Gone = append(e.Gone, line)
	}
	return append(all, e), nil
}

// dated sets the time of each edit: the time of the first unused call of the same agent
// with the same sizes.
func (a *Account) dated(all []AccountEdit) []AccountEdit {
	for k := range all {
		e := &all[k]
		for i := range a.Calls {
			if c := &a.Calls[i]; c.between && c.Agent == e.Agent && c.before == e.Before && c.Sent == e.After {
				e.At, c.between = c.At, false
				break
			}
		}
	}
	return all
}

// A course follows the ledgers of a session, and the edits between them.
type course struct {
	edits []AccountEdit
	after map[owner]int64 // number of the last edit that a step of the owner covers
	tally map[owner]*tally
}

func newCourse(edits []AccountEdit) *course {
	return &course{edits: edits, after: map[owner]int64{}, tally: map[owner]*tally{}}
}

// own returns the messages that the step itself edited or removed. The ledger
// of a step also lists messages that calls edited since the owner's previous
// step.
func (c *course) own(l *ledgerData) []*evicted {
	before, of := map[[2]string][]bool{}, l.owner()
	for k := range c.edits {
		if e := &c.edits[k]; e.owner == of && e.seq > c.after[of] && e.seq <= l.Edits {
			for _, x := range e.evicted {
				key := [2]string{x.FP, x.Is}
				before[key] = append(before[key], x.lost)
			}
		}
	}
	c.after[of] = max(c.after[of], l.Edits)
	var own []*evicted
	for k := range l.Evicted {
		key := [2]string{l.Evicted[k].FP, l.Evicted[k].Is}
		if was := before[key]; len(was) > 0 {
			before[key], l.Evicted[k].lost = was[1:], was[0]
			continue
		}
		own = append(own, &l.Evicted[k])
	}
	return own
}

// A tally counts the messages of an owner that were edited or removed, each
// once.
type tally struct {
	found map[position]bool // whether the archive can return the message
	last  map[string]string // the last decision by fingerprint
}

// position identifies a message of the history. Equal messages have one
// fingerprint.
type position struct {
	fp   string
	turn int // negative: a unique number, for an unknown turn
}

func (c *course) of(o owner) *tally {
	if c.tally[o] == nil {
		c.tally[o] = &tally{map[position]bool{}, map[string]string{}}
	}
	return c.tally[o]
}

// step adds the messages of a step, including those that were edited before it.
func (c *course) step(l *ledgerData) {
	t := c.of(l.owner())
	for _, x := range l.Evicted {
		at := position{x.FP, x.Turn}
		t.found[at] = t.found[at] || !x.lost
		t.last[x.FP] = x.Is
	}
}

// total returns the number of different messages, and how many of them the archive
// can't return. The ledgers don't hold the edits after an owner's last step. If the
// same decision occurs again for an equal message, the history has two such messages.
func (c *course) total() (messages, lost int) {
	for k := range c.edits {
		e := &c.edits[k]
		if t := c.of(e.owner); e.seq > c.after[e.owner] {
			for _, x := range e.evicted {
				if was, known := t.last[x.FP]; !known || was == x.Is {
					t.found[position{x.FP, -1 - len(t.found)}] = !x.lost
				}
				t.last[x.FP] = x.Is
			}
		}
	}
	for _, t := range c.tally {
		for _, ok := range t.found {
			messages, lost = messages+1, lost+one(!ok)
		}
	}
	return messages, lost
}

// What counts the messages of a call by decision, like [AccountStep.What].
func (e *AccountEdit) What() string { return goneBy(e.Gone, e.Missing) }

// BetweenSteps sums up the edits between steps: "7 messages: 7 truncated in 4
// calls, 64,152 tokens less"; "" if there are none.
func (a *Account) BetweenSteps() string {
	var gone []GoneLine
	missing, tokens := 0, 0
	for i := range a.Between {
		e := &a.Between[i]
		gone, missing, tokens = append(gone, e.Gone...), missing+e.Missing, tokens+e.Before-e.After
	}
	if len(a.Between) == 0 {
		return ""
	}
	return fmt.Sprintf("%s; %s, %s tokens less", goneBy(gone, missing), counted(len(a.Between), "call"), thousands(tokens))
}

// stageDropped is the name in accounts of the stage summarize when it removed
// messages without a summary.
const stageDropped = "drop"

// stages returns the names of the stages of a step that edited something, in
// order.
func (l *ledgerData) stages() []string {
	var names []string
	for i := range l.Recipes {
		r := &l.Recipes[i]
		name := strings.Replace(r.Stage, "summarise", summarize.StageName, 1) // versions before 0.1 spelled it differently
		if name == summarize.StageName && r.Cut != nil && r.Cut.Decision == policy.Dropped.String() {
			name = stageDropped
		}
		names = append(names, name)
	}
	return names
}
