package transport

import (
	"encoding/json"
	"slices"
	"strings"
)

// rounds remembers, for each agent of a session and each wire, the rounds of the recall
// tool that callers have not seen.
type rounds struct {
	*recent[roundKey, []round]
	read   *recent[roundKey, *readings]
	links  *recent[string, link]
	bound  *recent[string, struct{}] // ids of reasoning that led only to recall calls
	opaque *recent[string, struct{}] // hosts whose answers can't be read
}

// roundKey has the wire, because a round is written in the wire's format. Two wires can
// write the conversation before a round in the same way.
type roundKey struct{ session, agent, wire string }

func (x *exchange) roundKey() roundKey {
	return roundKey{x.who.session, x.who.agent, x.format.Name()}
}

// round holds the hidden messages before an answer that the caller received,
// and the hidden calls in that answer.
type round struct {
	at     int               // index of the answer in the caller's conversation
	past   digest            // digest of the conversation before it
	said   []json.RawMessage // the answer as the caller received it
	before []json.RawMessage // hidden rounds before the answer
	prior  []json.RawMessage // parts of the hidden answers; the caller received them and this answer as one answer
	beside *beside           // calls of the recall tool in the answer; nil = none
}

// beside holds the calls of the recall tool in an answer with other calls, and
// their results.
type beside struct {
	said  *said
	texts []string
}

// Limits of the remembered rounds.
const (
	maxRoundLanes = 1024
	maxRoundBytes = 256 << 10 // for each key
	maxBound      = 8192
)

func newRounds() *rounds {
	return &rounds{
		newRecent[roundKey, []round](maxRoundLanes), newRecent[roundKey, *readings](maxRoundLanes), newRecent[string, link](maxRoundLanes),
		newRecent[string, struct{}](maxBound), newRecent[string, struct{}](maxRoundLanes),
	}
}

// readings returns the cached digests of an agent's conversation.
func (r *rounds) readings(k roundKey) *readings {
	return r.read.update(k, func(had *readings) *readings {
		if had == nil {
			had = &readings{}
		}
		return had
	})
}

// keep remembers a round of a request. came is the original body of the
// request.
func (r *rounds) keep(x *exchange, came []byte, one round) {
	elems, _, err := elements(came, x.dialect.list())
	if err != nil {
		return
	}
	k := x.roundKey()
	all := r.readings(k).digests(elems)
	one.at, one.past = len(elems), all[len(elems)]
	r.update(k, func(had []round) []round {
		all := append(withoutThose(had, &one), one)
		for len(all) > 1 && sizeOf(all) > maxRoundBytes {
			all = all[1:]
		}
		return all
	})
}

func sizeOf(all []round) (n int) {
	for _, r := range all {
		for _, e := range slices.Concat(r.before, r.prior) {
			n += len(e)
		}
		if r.beside != nil {
			for _, e := range r.beside.said.whole {
				n += len(e)
			}
			n += len(strings.Join(r.beside.texts, ""))
		}
	}
	return n
}

// weave returns the body with the remembered rounds of its conversation. A round is
// inserted only if the history before it is unchanged. Its place is before its answer,
// or in the answer.
func (r *rounds) weave(x *exchange, d dialect, body []byte) ([]byte, error) {
	k := x.roundKey()
	all := slices.Clone(r.get(k))
	if len(all) == 0 {
		return body, nil
	}
	elems, span, err := elements(body, d.list())
	if err != nil {
		return nil, err
	}
	byTheirAnswers(all, elems)
	past := r.readings(k).digests(elems[:min(len(elems), all[0].at)])
	changed, done := false, len(elems)
	for _, one := range all {
		if one.at >= done || past[one.at] != one.past {
			continue
		}
		if out, ok := one.into(d, elems); ok {
			elems, changed, done = out, true, one.at
		}
	}
	if !changed {
		return body, nil
	}
	return withElements(body, span, elems), nil
}

// into returns a conversation with the round, and false if the conversation
// does not continue with the round's answer.
func (r *round) into(d dialect, elems []json.RawMessage) (out []json.RawMessage, ok bool) {
	elems = r.resolved(elems)
	out = elems
	if r.prior != nil {
		if out, ok = d.cut(elems, r.at, r); !ok {
			return nil, false
		}
	}
	if !showsSaid(out[r.at:], r.said) && !showsCalls(out[r.at:], r.said, r.beside != nil) {
		return nil, false
	}
	if r.beside != nil {
		if out, ok = d.join(out, r.at, r.beside); !ok {
			return nil, false
		}
	}
	return slices.Concat(out[:r.at:r.at], r.before, out[r.at:]), true
}

// showsSaid reports whether a conversation continues with an answer. It ignores
// reasoning, which not every caller sends back.
func showsSaid(elems, said []json.RawMessage) bool {
	want, got := firstSaid(said), firstSaid(elems)
	return want != nil && got != nil && digestOf([]json.RawMessage{want}) == digestOf([]json.RawMessage{got})
}

func firstSaid(elems []json.RawMessage) json.RawMessage {
	for _, e := range elems {
		if text(obj(e)["type"]) != "reasoning" {
			return e
		}
	}
	return nil
}
