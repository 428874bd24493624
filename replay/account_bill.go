package replay

import (
	"context"

	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage"
)

// A SessionBill is what the calls of one session cost, those of all agents and
// processes that worked on it.
type SessionBill struct {
	Calls         int `json:"calls"`
	CallsMeasured int `json:"calls_measured"` // whose usage the provider reported
	AccountMoney
}

// ReadBill reads the bill of a session from its audit log. card prices its prompts;
// the zero card stands for that of the model of the last call. A process that was
// killed has told of all calls of a session but those of its last minute at most.
func ReadBill(ctx context.Context, s *storage.Session, card price.Card) (*SessionBill, error) {
	a := &Account{}
	if _, err := a.readEvents(ctx, s); err != nil {
		return nil, err
	}
	a.price(card)
	return &SessionBill{Calls: len(a.Calls), CallsMeasured: len(a.Usages), AccountMoney: a.Money}, nil
}
