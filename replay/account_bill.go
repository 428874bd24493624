package replay

import (
	"context"

	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage/record"
)

// A SessionBill is the cost of the calls of one session, by all agents and
// processes.
type SessionBill struct {
	Calls         int `json:"calls"`          // calls that neither failed nor were refused
	CallsFailed   int `json:"calls_failed"`   // failed calls; the number of tokens sent for them is unknown
	CallsRefused  int `json:"calls_refused"`  // calls whose request the provider refused, or answered with an error
	CallsMeasured int `json:"calls_measured"` // calls with a usage from the provider, also failed ones whose request was sent unchanged
	AccountMoney
}

// ReadBill reads the bill of a session from its audit log. card prices its
// prompts; the zero card stands for the card of the last call's model. If a
// process was killed, calls of its last minute may be missing.
func ReadBill(ctx context.Context, s *record.Session, card price.Card) (*SessionBill, error) {
	a := &Account{}
	if _, err := a.readEvents(ctx, s); err != nil {
		return nil, err
	}
	a.price(card)
	sums := a.Sums()
	return &SessionBill{Calls: sums.Calls, CallsFailed: sums.Failed, CallsRefused: sums.Refused, CallsMeasured: len(a.Usages), AccountMoney: a.Money}, nil
}
