// Package histgen makes random histories for property tests: sessions of
// agents with everything that real ones have, and that hostile ones may have.
// The same seed gives the same history, byte for byte, in every process.
package histgen

import (
	"math/rand/v2"

	"github.com/agentcompact/compact/message"
)

// A Shape describes a history. Chances lie between 0 and 1; the zero Shape is an
// empty history.
type Shape struct {
	Rounds   int  // assistant rounds
	OneUser  bool // the user speaks once, at the beginning: an agent loop
	Ends     End
	Wire     float64 // chance of a message to come from JSON, else it is made in Go
	Preamble int     // system and developer messages at the beginning
	Again    int     // one in so many of these, wherever they stand, is an earlier one, to the byte; 0 = none

	Tools    float64 // chance of a round to call tools
	Parallel int     // calls in one round, at most
	Words    int     // of an ordinary text or result, at most

	Huge      float64 // chance of a result to be huge
	HugeWords int
	Empty     float64 // chance of a result to be empty

	Protected   float64 // of a message
	Middle      float64 // of a system or developer message between two rounds
	Orphan      float64 // of a result without a call between two rounds
	Interrupted float64 // of a call never to be answered
	Late        float64 // of a result to come after another message
	Repeated    float64 // of a call to take an id that was there before
	Twice       float64 // of a result to come twice
	Forged      float64 // of a text to look like one of ours
	Dispatch    float64 // of a result to hold dispatch blocks
	Reports     float64 // of a call to run tests, and of its result to be their report
	Media       float64 // of a user message to show a picture, a sound or a file
	Foreign     float64 // of a text to be CJK or emoji
}

// An End is how a history ends.
type End int

// The ends of a history.
const (
	Answered End = iota // with a complete round
	Question            // with user messages that wait
	Calls               // with calls of which some are not answered
)

// New returns the history of a seed: of a random shape.
func New(seed uint64) []message.Message {
	rng := Rand(seed)
	return Random(rng).History(rng)
}

// Rand returns the source of randomness that a seed stands for.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x636f6d70616374)) }

// Random returns a random shape. One in twelve is an agent loop of 100 rounds,
// one in eight is plain: without anything that is odd.
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

// odd adds properties that are rare in real histories, often enough for a test.
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
