package splice

import (
	"strconv"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
	"github.com/agentcompact/compact/message/wire"
)

// CheckView names the violation that a view does not belong to this request.
const CheckView = "view"

// A Checker checks one view of a request against the rules of its provider.
type Checker struct {
	*List
	View    []message.Message
	Sources []int
	Units   []Unit
	Found   []wire.Violation
}

// NewChecker returns a checker of a view. ok reports whether Write would accept the
// view; if not, the violations state the reason.
func NewChecker(l *List, view []message.Message, sources []int) (c Checker, ok bool) {
	c = Checker{List: l, View: view, Sources: sources}
	units, err := l.Plan(view, sources)
	if c.Units = units; err != nil {
		c.Whole(CheckView, -1, err.Error())
	}
	return c, err == nil
}

// Report adds a violation in a unit. about distinguishes the violation from other
// violations of the same check.
func (c *Checker) Report(check string, u Unit, about, detail string) {
	c.Found = append(c.Found, wire.Violation{Check: check, ID: ID(c.Sources[u.From], about), Index: u.From, Detail: detail})
}

// Whole adds a violation that can occur only once.
func (c *Checker) Whole(check string, index int, detail string) {
	c.Found = append(c.Found, wire.Violation{Check: check, Index: index, Detail: detail})
}

// Each calls f for each part of a kind in a unit: parts[i].
func (c *Checker) Each(u Unit, kind message.Kind, f func(parts []message.Part, i int)) {
	for k := u.From; k < u.To; k++ {
		parts := c.View[k].Parts
		for i := range parts {
			if parts[i].Kind == kind {
				f(parts, i)
			}
		}
	}
}

// ID returns the id of a violation in a message of the view. The key is made from about
// and from the index of the message in the request, so that it is the same before and
// after an edit.
func ID(source int, about string) string {
	from := "new"
	if source >= 0 {
		from = strconv.Itoa(source)
	}
	if about == "" {
		return from
	}
	return from + "/" + about
}

// Changed reports whether a part that can't be edited differs from the same part in
// message s of the request.
func (l *List) Changed(m *message.Message, s int) bool { return elements.Changed(&l.msgs[s], m) }
