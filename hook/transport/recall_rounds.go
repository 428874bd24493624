package transport

import (
	"encoding/json"
	"slices"
	"strings"
)

// rounds are those of the recall tool that callers have not seen, by whose
// history they are of.
type rounds struct {
	*recent[roundKey, []round]
	read *recent[roundKey, *readings]
}

type roundKey struct{ session, agent string }

// round is what stands in front of an answer that a caller was shown, or in it.
type round struct {
	at     int               // the answer is this element of the caller's conversation
	past   digest            // what stands before it
	said   []json.RawMessage // the answer as it was shown
	before []json.RawMessage // whole rounds that came before it
	prior  []json.RawMessage // what the caller has of their answers, in one with it
	beside *beside           // calls of ours that were in it; nil = none
}

// beside is our part of an answer that holds other calls too.
type beside struct {
	said  *said
	texts []string
}

// Bounds of what is remembered.
const (
	maxRoundLanes = 1024
	maxRoundBytes = 256 << 10 // of one agent of a session
)

func newRounds() *rounds {
	return &rounds{newRecent[roundKey, []round](maxRoundLanes), newRecent[roundKey, *readings](maxRoundLanes)}
}

// readings are what was read for an agent.
func (r *rounds) readings(k roundKey) *readings {
	return r.read.update(k, func(had *readings) *readings {
		if had == nil {
			had = &readings{}
		}
		return had
	})
}

// keep remembers a round of the request whose body came in as it is given.
func (r *rounds) keep(x *exchange, came []byte, one round) {
	elems, _, err := elements(came, x.dialect.list())
	if err != nil {
		return
	}
	k := roundKey{x.who.session, x.who.agent}
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

// weave returns the body with the rounds that belong to its conversation: each
// behind the very history that it came behind, and before, or in, the answer
// that it led to.
func (r *rounds) weave(x *exchange, d dialect, body []byte) ([]byte, error) {
	k := roundKey{x.who.session, x.who.agent}
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

// into returns a conversation with the round, where it goes on with its answer.
func (r *round) into(d dialect, elems []json.RawMessage) (out []json.RawMessage, ok bool) {
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

// showsSaid reports whether a conversation goes on with an answer, whatever its
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
