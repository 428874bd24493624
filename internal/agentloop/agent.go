package agentloop

import (
	"context"
	"fmt"
	"strings"
)

// A Turn is one message of a person.
type Turn struct {
	Say    string
	Model  string
	Stream bool
}

// An Agent is a program that uses an SDK, with the history that the SDK holds.
type Agent interface {
	// Run sends a message, and continues until the model answers without a call.
	Run(ctx context.Context, t Turn) (text string, err error)
	// Fork returns an agent that continues the same history at another endpoint.
	Fork(ctx context.Context, at *Endpoint) (Agent, error)
}

// An SDK opens agents.
type SDK struct {
	Name   string
	Models [2]string // the agents switch to the second model in the middle
	Open   func(ctx context.Context, at *Endpoint) (Agent, error)
	// Streams reports whether the SDK's own loop can stream.
	Streams bool
	// Forgets reports that each turn begins without the earlier turns, so its
	// prompt is a new one.
	Forgets bool
	// Drops reports that the SDK does not send back sealed reasoning. The
	// scripted model then returns none.
	Drops bool
}

// Read is the tool of the agents: it returns a file of some kB; every tenth has
// 50 kB.
func (e *Endpoint) Read(args string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.read++
	size := small
	if e.read%10 == 0 {
		size = large
	}
	return file(args, e.read, size)
}

const (
	small = 2_500 // bytes of a result
	large = 50_000
)

// file returns a text whose lines are similar but all different.
func file(args string, n, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "file %d, asked for as %s. ", n, args)
	for line := 1; b.Len() < size; line++ {
		fmt.Fprintf(&b, "On line %d the parser reads the next word, looks it up and writes number %d. ", line, n*line)
	}
	return b.String()
}
