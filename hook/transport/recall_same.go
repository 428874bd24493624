package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
)

// maxAlternatives limits the remembered rounds for one history. A program may
// send the same history several times and continue from each answer.
const maxAlternatives = 8

// withoutThose returns the rounds in had that must be kept when the round one
// is added. It leaves out rounds that led to the same answer, and the oldest
// rounds of the same history if there are too many.
func withoutThose(had []round, one *round) (kept []round) {
	there := 0
	for _, o := range slices.Backward(had) {
		if o.at == one.at && o.past == one.past {
			if there++; there >= maxAlternatives || sameAnswer(o.said, one.said) {
				continue
			}
		}
		kept = append(kept, o)
	}
	slices.Reverse(kept)
	return kept
}

func sameAnswer(a, b []json.RawMessage) bool {
	return digestOf(a) == digestOf(b) && slices.EqualFunc(idsOf(a), idsOf(b), bytes.Equal)
}

// byTheirAnswers sorts rounds by position, the last first, because an insertion
// moves nothing before it. At the same position it prefers the round whose ids are
// in the conversation, then the newest. Ids alone don't decide, because some
// callers replace them.
func byTheirAnswers(all []round, elems []json.RawMessage) {
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b round) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.knownIn(elems), a.knownIn(elems)))
	})
}

// knownIn counts the ids of the round's answer that the conversation holds at
// the round's position.
func (r *round) knownIn(elems []json.RawMessage) (n int) {
	if r.at >= len(elems) {
		return 0
	}
	there := idsOf(elems[r.at:min(len(elems), r.at+len(r.prior)+len(r.said)+1)])
	for _, id := range idsOf(r.said) {
		if slices.ContainsFunc(there, func(o []byte) bool { return bytes.Equal(o, id) }) {
			n++
		}
	}
	return n
}

// idsOf returns the ids in elements of a conversation, in order.
func idsOf(elems []json.RawMessage) (ids [][]byte) {
	for _, e := range elems {
		var v any
		_ = json.Unmarshal(e, &v)
		ids = appendIDs(ids, v)
	}
	return ids
}

func appendIDs(ids [][]byte, v any) [][]byte {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			ids = appendIDs(ids, e)
		}
	case map[string]any:
		for _, name := range []string{"id", "call_id"} {
			if id, ok := v[name].(string); ok && id != "" {
				ids = append(ids, []byte(id))
			}
		}
		for _, name := range []string{"content", "tool_calls", "parts", "functionCall"} {
			ids = appendIDs(ids, v[name])
		}
	}
	return ids
}
