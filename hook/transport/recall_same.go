package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
)

// maxAlternatives are rounds behind one and the same history: a program may ask
// several times at once, and go on from each answer.
const maxAlternatives = 8

// withoutThose returns the rounds without the one that led to the same answer,
// and, where there are too many behind the same history, without the oldest.
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

// byTheirAnswers sorts rounds: the last first, since it moves nothing that comes
// before it, and of those at one place the one whose ids the conversation has, else
// the newest. Ids do not decide alone: some callers write their own.
func byTheirAnswers(all []round, elems []json.RawMessage) {
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b round) int {
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.knownIn(elems), a.knownIn(elems)))
	})
}

// knownIn counts the ids of the answer that a conversation has in its place.
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

// idsOf are the ids in elements of a conversation, in their order.
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
