package compact

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/storage/turnindex"
)

// reference is what is to be recalled.
type reference struct {
	text  string // lower case
	query turnindex.Query
	slot  turnindex.Slot // of a turn; Other = all of it
	most  int64          // bytes of a line that may be read; 0 = any
}

// parseRef reads what a caller, or a model, gives as a reference.
func parseRef(text string) (reference, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	r := reference{text: text}
	name := text
	if strings.HasPrefix(text, "turn:") && strings.Count(text, ":") == 2 {
		at := strings.LastIndexByte(text, ':')
		slot, ok := turnindex.ParseSlot(text[at+1:])
		if !ok || slot == turnindex.Other {
			return r, notARef(text)
		}
		name, r.slot = text[:at], slot
	}
	var err error
	if r.query, err = turnindex.ParseQuery(name); err != nil {
		return r, notARef(text)
	}
	return r, nil
}

func notARef(text string) error {
	const most = 80
	return fmt.Errorf(`%w: %.*q is not a reference (8 or more hex digits, or "turn:" and a number)`, ErrNotFound, most, text)
}
