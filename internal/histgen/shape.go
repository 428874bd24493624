// Package histgen makes random histories for property tests: sessions of agents
// with every feature of real and of hostile ones. The same seed gives the same
// history, byte for byte, in every process.
package histgen

import (
	"math/rand/v2"

	"github.com/agentcompact/compact/message"
)

// A Shape describes a history. Chances are between 0 and 1; the zero Shape is an
// empty history.
type Shape struct {
	Rounds   int  // assistant rounds
	OneUser  bool // the user speaks only at the beginning, like in an agent loop
	Ends     End
	Wire     float64 // chance that a message comes from JSON; otherwise it is made in Go
	Preamble int     // system and developer messages at the beginning
	Again    int     // every n-th of these messages, anywhere in the history, equals an earlier message byte for byte; 0 = none

	Tools    float64 // chance that a round calls tools
	Parallel int     // maximum number of calls in one round
	Words    int     // maximum number of words of an ordinary text or result

	Huge      float64 // chance that a result is huge
	HugeWords int
	Empty     float64 // chance that a result is empty

	Protected   float64 // chance that a message is protected
	Middle      float64 // chance of a system or developer message between two rounds
	Orphan      float64 // chance of a result without a call between two rounds
	Interrupted float64 // chance that a call is never answered
	Late        float64 // chance that a result comes after another message
	Repeated    float64 // chance that a call reuses an id
	Twice       float64 // chance that a result comes twice
	Forged      float64 // chance that a text resembles a text of this module
	Dispatch    float64 // chance that a result has dispatch blocks
	Reports     float64 // chance that a call runs tests and its result is their report
	Media       float64 // chance that a user message has a picture, a sound or a file
	Foreign     float64 // chance that a text is CJK or emoji
}

// An End is the kind of end of a history.
type End int

// The ends of a history.
const (
	Answered End = iota // a complete round
	Question            // user messages without an answer
	Calls               // calls, some without an answer
)

// New returns the history of a seed, with a random shape.
func New(seed uint64) []message.Message {
	rng := Rand(seed)
	return Random(rng).History(rng)
}

// Rand returns the source of randomness for a seed.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x636f6d70616374)) }

// Random returns a random shape. One shape in twelve is an agent loop of 100 rounds;
// one in eight has no odd properties.
func Random(rng *rand.Rand) Shape {
	s := Shape{
		Rounds: rng.IntN(1 + rng.IntN(50)), OneUser: rng.IntN(3) == 0, Ends: End(rng.IntN(3)),
		Wire: pick(rng, 0, 0.5, 1, 1), Preamble: rng.IntN(4),
		Tools: rng.Float64(), Parallel: 1 + rng.IntN(5), Words: 3 + rng.IntN(1+rng.IntN(160)),
		Huge: pick(rng, 0, 0, 0.02, 0.2), HugeWords: 300 + rng.IntN(1+rng.IntN(4000)), Empty: pick(rng, 0, 0.02, 0.2),
	}
	if rng.IntN(12) == 0 {
		s.Rounds, s.OneUser, s.Tools = 100, true, 1
	}
	if rng.IntN(8) > 0 {
		s.odd(rng)
	}
	s.Again = s.Words % 4
	return s
}

// odd sets properties that are rare in real histories, more often than in
// reality.
func (s *Shape) odd(rng *rand.Rand) {
	for _, chance := range []*float64{
		&s.Protected, &s.Middle, &s.Orphan, &s.Interrupted, &s.Late, &s.Repeated, &s.Twice,
		&s.Forged, &s.Dispatch, &s.Media, &s.Foreign, &s.Reports,
	} {
		*chance = pick(rng, 0, 0, 0.02, 0.1, 0.3)
	}
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func chance(rng *rand.Rand, p float64) bool { return p > 0 && rng.Float64() < p }
