package price

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// cardFields is a Card without methods, so that package json encodes its fields.
type cardFields Card

type cardJSON struct {
	cardFields
	Lifetime string `json:"lifetime"` // "5m", "1h"
}

// MarshalJSON writes the card in the form that [Card.UnmarshalJSON] reads.
func (c Card) MarshalJSON() ([]byte, error) {
	return json.Marshal(cardJSON{cardFields(c), c.Lifetime.String()})
}

// UnmarshalJSON reads a card: prices in US dollars per million tokens, the
// lifetime as "5m". Missing fields keep their values. After that, a CacheWrite of
// 0 becomes Input, and a CacheWriteHour of 0 becomes CacheWrite. An unknown field
// is an error.
func (c *Card) UnmarshalJSON(data []byte) error {
	in := cardJSON{cardFields: cardFields(*c)}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return err
	}
	out := Card(in.cardFields)
	if in.Lifetime != "" {
		var err error
		if out.Lifetime, err = time.ParseDuration(in.Lifetime); err != nil {
			return fmt.Errorf("lifetime %q is not a duration such as 5m: %w", in.Lifetime, err)
		}
	}
	if out.CacheWrite == 0 {
		out.CacheWrite = out.Input
	}
	if out.CacheWriteHour == 0 {
		out.CacheWriteHour = out.CacheWrite
	}
	*c = out
	return nil
}
