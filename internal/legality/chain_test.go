// Package legality holds the sweep that shows that sent requests are legal:
// sessions rendered for the wires of four providers, compacted again and again,
// and every request judged by servers that know nothing of this module.
package legality

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/invariant"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/token"
)

func soak() bool { return os.Getenv("COMPACT_SOAK") == "1" }

// names holds the module's names of the wires.
var names = map[provider.Wire]string{
	provider.Chat: "openai", provider.Responses: "responses", provider.Anthropic: "anthropic", provider.Gemini: "gemini",
}

// parse reads a request.
func parse(w provider.Wire, body []byte) (wire.Request, error) { return parseKnown(w, body, nil) }

// parseKnown is parse for bodies with known messages, as in the transport.
func parseKnown(w provider.Wire, body []byte, c *wire.Cache) (wire.Request, error) {
	f, ok := formats.Lookup(names[w])
	if !ok {
		return nil, fmt.Errorf("%s is not a wire", names[w])
	}
	return f.ParseRequest(body, c)
}

// models are the models that the rendered requests name.
var models = map[provider.Wire]string{
	provider.Chat: "gpt-4o", provider.Responses: "gpt-5", provider.Anthropic: "claude-opus-4-8", provider.Gemini: "gemini-2.5-pro",
}

// lists has the member that holds the conversation, by wire.
var lists = map[provider.Wire]string{
	provider.Chat: "messages", provider.Responses: "input", provider.Anthropic: "messages", provider.Gemini: "contents",
}

// The counts of a sweep.
const (
	sessions = iota
	called   // calls of the hook
	clean    // of these, calls with a request that the judge accepts
	compactions
	eight        // sessions that were compacted eight times
	insufficient // calls that ended with the error that the budget does not suffice
	stuck        // of these, calls in which a sufficient edit is illegal
	discarded    // calls in which an edit was discarded because it is illegal
	untouched    // of these, calls without any other edit
	bad          // findings
	counts
)

type tally [counts]int

func (a *tally) add(b tally) {
	for i, n := range b {
		a[i] += n
	}
}

// A chain drives one manager through a session on one wire, and the judge checks every
// request.
type chain struct {
	t      *testing.T
	label  string
	wire   provider.Wire
	window int
	m      *compact.CompactManager
	judge  *provider.Judge
	cost   *token.Estimator
	tally  tally
	copies int         // number of removed copies of system messages
	cache  *wire.Cache // nil: each body is read again
}

func newChain(t *testing.T, label string, w provider.Wire, window int) *chain {
	t.Helper()
	cost, err := token.NewEstimator(models[w], nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(context.Background(), compact.Config{Model: models[w], MaxContextTokens: window, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	c := &chain{t: t, label: fmt.Sprintf("%s, %s, window %d", label, w, window), wire: w, window: window, m: m, judge: provider.NewJudge(w), cost: cost}
	c.judge.Dialects = true
	c.tally[sessions] = 1
	return c
}

func (c *chain) close() { _ = c.m.Close(context.Background()) }

// errorf reports a finding, at most three per chain.
func (c *chain) errorf(format string, args ...any) {
	c.t.Helper()
	if c.tally[bad]++; c.tally[bad] <= 3 {
		c.t.Errorf("%s, call %d: %s", c.label, c.tally[called], fmt.Sprintf(format, args...))
	}
}

// run makes the calls of a session until it was compacted eight times. kept means
// that the agent keeps the edited request; otherwise it sends the whole one. A
// manual compaction is requested at every second call without a due one.
func (c *chain) run(s *render.Session, kept bool) {
	cuts := thinned(s.Cuts())
	c.judge.Issue(s.Body(cuts[len(cuts)-1]))
	var body []byte
	last := 0
	for k, cut := range cuts {
		full := s.Body(cut)
		in := full
		if kept && body != nil {
			var err error
			if in, err = s.Extend(body, last, cut); err != nil {
				c.t.Fatal(err)
			}
			if fresh := provider.New(c.judge.Judge(full), c.judge.Judge(in)); len(fresh) > 0 {
				c.errorf("the request that continues the view: %s", fresh[0].Text)
			}
		}
		body, last = c.call(in, k%2 == 1), cut
		if c.tally[compactions] == 8 {
			c.tally[eight] = 1
			return
		}
	}
}

// call makes one call, and returns the request to send.
func (c *chain) call(in []byte, manual bool) []byte {
	c.tally[called]++
	req, err := parseKnown(c.wire, in, c.cache)
	if err != nil {
		c.errorf("not read: %v", err)
		return in
	}
	if f, err := formats.Detect(in); err != nil || f.Name() != names[c.wire] {
		c.errorf("the format is not detected: %v", err)
	}
	res, ok := c.compact(req, manual)
	if !ok {
		return in
	}
	out, err := req.Write(res.Messages, res.Sources)
	if err != nil {
		c.errorf("not written: %v", err)
		return in
	}
	before, after := c.judge.Judge(in), c.judge.Judge(out)
	if !slices.ContainsFunc(before, func(r provider.Refusal) bool { return !r.Dialect }) {
		c.tally[clean]++
	}
	for _, r := range provider.New(before, after) {
		c.errorf("%s at %s: %s", r.Rule, r.Path, r.Text)
	}
	c.compare(in, out, res)
	return out
}

// compact returns the compacted request, and whether the compaction succeeded.
func (c *chain) compact(req wire.Request, manual bool) (*compact.Result, bool) {
	opts := []compact.Option{compact.WithRequest(req), compact.WithModel(models[c.wire])}
	res, err := c.m.Preflight(context.Background(), "s", req.Messages(), opts...)
	if manual && err == nil && !res.Triggered {
		c.judged(res)
		res, err = c.m.ManualCompact(context.Background(), "s", req.Messages(), "sweep", opts...)
	}
	if res.Triggered {
		c.tally[compactions]++
		for _, d := range res.Decisions {
			if d.Reason == "duplicate_of" {
				c.copies++
			}
		}
	}
	if illegal := c.judged(res); err != nil {
		c.refusal(req, res, err, illegal)
	}
	return res, err == nil
}

// judged counts the edits that the manager threw away because the provider
// would refuse them, and reports whether there were any.
func (c *chain) judged(res *compact.Result) bool {
	illegal := slices.ContainsFunc(res.Warnings, func(w string) bool {
		return strings.Contains(w, strings.TrimPrefix(compact.ErrIllegal.Error(), "compact: "))
	})
	if !illegal {
		return false
	}
	c.tally[discarded]++
	if res.After.Total == res.TokensIn {
		c.tally[untouched]++
	}
	return true
}

// refusal judges the error with the independent floor. If the smallest view is illegal,
// the floor includes a notice, because only a missing user message can make that view
// illegal.
func (c *chain) refusal(req wire.Request, res *compact.Result, err error, illegal bool) {
	c.tally[insufficient]++
	var b *compact.BudgetError
	if !errors.As(err, &b) {
		c.errorf("only insufficient budget may fail a call: %v", err)
		return
	}
	r := invariant.Refusal{
		In: req.Messages(), Out: res.Messages, Pinned: pinned, Cost: c.cost.Message, Fixed: c.cost.Reply() + c.cost.Tools(req.About().Tools),
		Budget: res.Budget, Tokens: b.Tokens, Parts: b.Fixed,
	}
	if illegal {
		c.tally[stuck]++
		r.Fixed += c.cost.Message(policy.NewNotice(len(r.In)))
	}
	for _, l := range b.Largest {
		r.Named, r.Parts = append(r.Named, l.Index), r.Parts+l.Tokens
	}
	for _, s := range b.Others {
		r.Parts += s.Tokens
	}
	for _, v := range invariant.CheckRefusal(r) {
		c.errorf("%s", v)
	}
}

func pinned(m message.Message) bool {
	return m.Protected || m.Role == message.RoleSystem || m.Role == message.RoleDeveloper
}

// compare compares the sent request with the received one: without edits they are
// equal, and with edits everything except the conversation is.
func (c *chain) compare(in, out []byte, res *compact.Result) {
	edited := len(res.Messages) != len(res.Decisions)
	for _, d := range res.Decisions {
		edited = edited || d.Decision.String() != "kept"
	}
	if !edited && !bytes.Equal(in, out) {
		c.errorf("nothing was edited, but the body changed")
	}
	a, b := envelope(in, lists[c.wire]), envelope(out, lists[c.wire])
	for name, v := range a {
		if !bytes.Equal(v, b[name]) && (name != "system" || !reflect.DeepEqual(withoutMarks(v), withoutMarks(b[name]))) {
			c.errorf("%s was changed", name)
		}
	}
	if len(a) != len(b) {
		c.errorf("%d fields became %d", len(a), len(b))
	}
}

// withoutMarks returns a system prompt of Anthropic as blocks without cache marks:
// the mark of a removed message moves there if no message stays before it.
func withoutMarks(system json.RawMessage) (out []map[string]any) {
	var text string
	if json.Unmarshal(system, &text) == nil {
		return []map[string]any{{"type": "text", "text": text}}
	}
	if json.Unmarshal(system, &out) != nil {
		return nil
	}
	for _, block := range out {
		delete(block, "cache_control")
	}
	return out
}

// envelope returns the fields of a body without one.
func envelope(body []byte, without string) map[string]json.RawMessage {
	var o map[string]json.RawMessage
	if err := json.Unmarshal(body, &o); err != nil {
		return nil
	}
	delete(o, without)
	return o
}
