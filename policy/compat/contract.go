package compat

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// ContractStrategy is the name of the summary that [LocalSummary] writes.
const ContractStrategy = "contract"

// Limits of a contract: lengths in UTF-16 code units, and numbers of items.
const (
	contractObjective   = 220
	contractItem        = 120
	contractUnresolved  = 6
	contractOutcomes    = 6
	contractConstraints = 8
)

const (
	contractTitle        = "Conversation summary (contract):"
	contractNoObjective  = "Not specified."
	contractNoTasks      = "None captured."
	contractNoOutcome    = "No tool outcomes captured."
	contractNoConstraint = "No constraints captured."

	fieldObjective   = "- Objective: "
	fieldTasks       = "- Unresolved tasks: "
	fieldOutcomes    = "- Key tool outcomes: "
	fieldConstraints = "- Current constraints: "
)

// A contract is a summary that is written without a model: the first request,
// and the first few items of each kind. Each kind has one line.
type contract struct {
	objective                         string
	asked                             bool // the objective is set
	unresolved, outcomes, constraints items
}

// items are distinct one-line texts, at most limit of them.
type items struct {
	list  []string
	limit int
}

func newContract() *contract {
	return &contract{
		unresolved:  items{limit: contractUnresolved},
		outcomes:    items{limit: contractOutcomes},
		constraints: items{limit: contractConstraints},
	}
}

// ask sets the objective if it is not set yet.
func (c *contract) ask(text string) {
	if !c.asked {
		c.objective, c.asked = trimSpace(strings.ToValidUTF8(text, "\uFFFD")), true
	}
}

// add appends a text to the list, unless the text is empty or already listed,
// or the list is full.
func (l *items) add(text string) {
	if len(l.list) == l.limit {
		return
	}
	if s := foldSpace(text); s != "" && !slices.Contains(l.list, s) {
		l.list = append(l.list, s)
	}
}

// text returns the contract in at most limit UTF-16 code units.
func (c *contract) text(limit int) string {
	objective := contractNoObjective
	if c.asked {
		objective = c.objective
	}
	return clipUTF16(strings.Join([]string{
		contractTitle,
		fieldObjective + clipUTF16(objective, contractObjective),
		fieldTasks + c.unresolved.line(contractNoTasks),
		fieldOutcomes + c.outcomes.line(contractNoOutcome),
		fieldConstraints + c.constraints.line(contractNoConstraint),
	}, "\n"), limit)
}

const itemSeparator = "; "

func (l *items) line(none string) string {
	if len(l.list) == 0 {
		return none
	}
	short := make([]string, len(l.list))
	for i, s := range l.list {
		short[i] = clipUTF16(s, contractItem)
	}
	return strings.Join(short, itemSeparator)
}

// inherit merges an earlier contract into c. The earlier objective takes precedence, and
// each list keeps its newest items. A body that is not a contract becomes the objective.
func (c *contract) inherit(body string) {
	old := parseContract(body)
	if old.asked {
		c.objective, c.asked = old.objective, true
	}
	c.unresolved.inherit(old.unresolved)
	c.outcomes.inherit(old.outcomes)
	c.constraints.inherit(old.constraints)
}

func (l *items) inherit(old items) {
	all := slices.Clone(old.list)
	for _, s := range l.list {
		if s = clipUTF16(s, contractItem); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	l.list = all[max(len(all)-l.limit, 0):]
}

func parseContract(body string) *contract {
	c := newContract()
	rest, ok := strings.CutPrefix(body, contractTitle+"\n"+fieldObjective)
	if !ok {
		c.ask(body)
		return c
	}
	objective, rest, _ := strings.Cut(rest, "\n"+fieldTasks)
	tasks, rest, _ := strings.Cut(rest, "\n"+fieldOutcomes)
	outcomes, constraints, _ := strings.Cut(rest, "\n"+fieldConstraints)
	if objective != contractNoObjective {
		c.ask(objective)
	}
	c.unresolved.read(tasks, contractNoTasks)
	c.outcomes.read(outcomes, contractNoOutcome)
	c.constraints.read(constraints, contractNoConstraint)
	return c
}

func (l *items) read(line, none string) {
	if line == none {
		return
	}
	for s := range strings.SplitSeq(line, itemSeparator) {
		l.add(s)
	}
}

// The tags of messages whose text a contract lists.
const (
	TagUnresolved = "unresolved"
	TagConstraint = "constraint"
)

// note adds the content of a message to the contract.
func (c *contract) note(m *message.Message, tags []string, clean func(string) string) {
	if m.IsUser() && !c.asked {
		c.ask(clean(m.Text()))
	}
	for i := range m.Parts {
		if m.Parts[i].Kind == message.KindToolResult && len(c.outcomes.list) < c.outcomes.limit {
			c.outcomes.add(clean(m.Parts[i].Text))
		}
	}
	for _, tag := range tags {
		switch tag {
		case TagUnresolved:
			c.unresolved.add(clean(textOf(m)))
		case TagConstraint:
			c.constraints.add(clean(textOf(m)))
		}
	}
}

// textOf returns the text of a message, or its tool results if it has no text.
func textOf(m *message.Message) string {
	if s := m.Text(); s != "" {
		return s
	}
	return m.ResultText()
}
