package agentloop

import (
	"fmt"
	"regexp"

	"github.com/agentcompact/compact/internal/provider"
)

// turn makes the model request a given number of files before it answers.
func (e *Endpoint) turn(steps int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.steps = steps
}

// reply requests the next file: three files at once at every fifth step, and on
// Anthropic a search by the provider at every seventh. At every ninth step it first
// recalls, alone or together with the next file, if the view contains a reference.
func (e *Endpoint) reply(q provider.Request) provider.Answer {
	e.mu.Lock()
	defer e.mu.Unlock()
	a := e.next(q)
	if e.drops {
		a.Reasoning = ""
	}
	return a
}

func (e *Endpoint) next(q provider.Request) provider.Answer {
	ref := Shown(q.Body)
	e.since++
	again := e.since > 9 && ref != "" && e.steps > 0
	if again {
		e.since = 0
		e.recalls++
		if e.recalls%2 == 1 {
			return provider.Answer{Reasoning: e.thought("That is gone."), Calls: []provider.Call{e.call("recall", "ref", ref)}}
		}
	}
	if e.steps--; e.steps < 0 {
		return provider.Answer{Text: "done"}
	}
	a := provider.Answer{Reasoning: e.thought("There is more."), Text: "I look.", Calls: []provider.Call{e.file("notes")}}
	if e.steps%7 == 6 && q.Wire == provider.Anthropic {
		a.Search = "how a parser reads words" // by a tool that the provider runs itself
	}
	if e.steps%5 == 4 {
		a.Calls = append(a.Calls, e.file("code"), e.file("tests"))
	}
	if again {
		a.Calls = append(a.Calls, e.call("recall", "ref", ref))
	}
	return a
}

// thought returns a different text each time, so that its signature is unique in all
// branches.
func (e *Endpoint) thought(text string) string { return fmt.Sprintf("%d. %s", e.serial+1, text) }

// file requests a different file each time.
func (e *Endpoint) file(name string) provider.Call {
	return e.call("read", "name", fmt.Sprintf("%s %d", name, e.serial+1))
}

func (e *Endpoint) call(name, arg, value string) provider.Call {
	e.serial++
	return provider.Call{ID: fmt.Sprintf("call_%d", e.serial), Name: name, Args: fmt.Sprintf(`{%q:%q}`, arg, value)}
}

var (
	shown      = regexp.MustCompile(`recall ([0-9a-f]{12})\]`)
	summarized = regexp.MustCompile(`COMPACT-SUMMARY`)
)

const (
	example = "3f9a2c1b77de" // the reference in the tool's definition
	step    = "turn:2"       // recalled if a summary replaces the whole history
)

// Shown returns the last reference in a request, or a turn if the request has only a
// summary; "" = none.
func Shown(body []byte) (ref string) {
	for _, m := range shown.FindAllSubmatch(body, -1) {
		if string(m[1]) != example {
			ref = string(m[1])
		}
	}
	if ref == "" && summarized.Match(body) {
		ref = step
	}
	return ref
}
