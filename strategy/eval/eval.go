// Package eval measures, on recorded sessions, the facts that a summary gives a
// successor: the words of the user, failures, changes, the plan, the next step, and
// whether the statements of the summary are true.
//
// A session is cut where it first exceeds 85 % of the window. The last six assistant
// turns before the cut and the last user message are recent, system and developer
// messages are pinned, and all other messages are evicted and summarized. Rules of this
// package, independent of the summarizer's rules, read the facts of the evicted messages.
//
// An identifier is needed if assistant text or tool arguments after the cut use it, the
// evicted part had it, and no user message or result after the cut showed it again before
// that use. It counts if a readable line contains it: a line in which at least a quarter
// of the words are plain words.
package eval

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// A Session is a recorded conversation.
type Session struct {
	Name     string
	Source   string // origin; sessions of one source are reported together
	Messages []message.Message
}

// A Setting is the size of a window, with the limits of its summaries and of the user's
// words in them. All values are tokens.
type Setting struct {
	Window     int
	MaxTokens  int
	UserTokens int
}

// Settings returns the settings of the project's figures: three windows with
// the limits of the default configuration.
func Settings() []Setting {
	return []Setting{{8_000, 1500, 480}, {32_000, 1500, 1920}, {128_000, 3840, 2000}}
}

// Options configures [Run]. The zero value measures every strategy with the
// extractive summarizer at the usual settings; only Count is required.
type Options struct {
	Settings   []Setting           // default Settings()
	Strategies []string            // default: all strategies
	Summarizer strategy.Summarizer // default strategy.Extractive
	Redact     func(string) string // default: none
	// Count returns the tokens of a text. A message costs four tokens more than its
	// texts.
	Count func(text string) int
	// Progress is called after each session. It may be nil.
	Progress func(done, of int)

	// EachSession reports each session in separate rows, instead of each source.
	EachSession bool

	// Reading names the definition of an identifier, one of [Readings]. The default is
	// ReadingLiteral.
	Reading string

	reading *reading
}

// perMessage is the cost of a message besides its texts, in tokens.
const perMessage = 4

// Run measures summaries. It skips a session for the windows that the session never fills.
// A failed summary counts as missing. The error is the context's, or reports an unknown
// strategy or reading.
func Run(ctx context.Context, sessions []Session, o Options) (Report, error) {
	o, strategies, err := o.defaults()
	if err != nil {
		return Report{}, err
	}
	var report Report
	for i, s := range sessions {
		for _, setting := range o.Settings {
			split, ok := o.reading.cut(s, setting.Window, o.cost)
			if !ok {
				continue
			}
			if split.facts = FactsOf(split.Evicted); o.EachSession {
				split.Source = s.Name
			}
			split.fits = o.fits(setting, split.facts.User)
			report.add(o.baselines(setting, &split)...)
			for _, st := range strategies {
				row, err := o.measure(ctx, setting, st, &split)
				if err != nil {
					return report, err
				}
				report.add(row)
			}
		}
		if o.Progress != nil {
			o.Progress(i+1, len(sessions))
		}
	}
	return report, nil
}

func (o Options) defaults() (Options, []strategy.Strategy, error) {
	var err error
	if o.reading, err = readingOf(o.Reading); err != nil {
		return o, nil, err
	}
	if len(o.Settings) == 0 {
		o.Settings = Settings()
	}
	if len(o.Strategies) == 0 {
		o.Strategies = strategy.Names()
	}
	var out []strategy.Strategy
	for _, name := range o.Strategies {
		s, err := strategy.Lookup(name)
		if err != nil {
			return o, nil, err
		}
		out = append(out, s)
	}
	return o, out, nil
}

func (o Options) cost(m message.Message) int {
	n := perMessage
	for _, p := range m.Parts {
		n += o.Count(p.Text) + o.Count(string(p.Args)) + o.Count(p.Name)
	}
	return n
}

// fits reports whether the typed text fits into nine tenths of the limit of the
// user's words.
func (o Options) fits(setting Setting, typed []string) bool {
	return o.Count(strings.Join(typed, "\n")) <= setting.UserTokens*9/10
}

// measure writes one summary and scores it.
func (o Options) measure(ctx context.Context, setting Setting, st strategy.Strategy, s *Split) (Row, error) {
	w := summarize.Writer{Strategy: st, Summarizer: o.Summarizer, MaxTokens: setting.MaxTokens, UserTokens: setting.UserTokens, Redact: o.Redact}
	sum, err := w.Write(ctx, summarize.Input{Messages: s.Evicted, Visible: slices.Concat(s.Pinned, s.Recent), Count: o.Count})
	if ctx.Err() != nil {
		return Row{}, ctx.Err()
	}
	row := s.row(setting, st.Name, sum.Text)
	row.Tokens, row.Retention, row.Invented = sum.Tokens, sum.Retention, invented(sum.Text, s)
	if err != nil {
		row.Missing = 1
	}
	return row, nil
}

// invented counts the identifiers of a summary that its source contains neither exactly
// nor within a longer identifier.
func invented(text string, s *Split) int {
	source, in := s.reading.names(s.Evicted...), s.reading.names()
	in.add(expanded(text))
	n := 0
	for id := range in.ids {
		if !source.have(id) && !source.holds(id) {
			n++
		}
	}
	return n
}

// holds reports whether id is part of an identifier: the end of a path, the
// beginning of a hash.
func (n *names) holds(id string) bool {
	for have := range n.ids {
		if strings.Contains(have, id) {
			return true
		}
	}
	return false
}

// Names of the baselines in every report.
const (
	BaselineDrop = "drop"
	BaselineMask = "mask"
	BaselineList = "bare list"
)

// maskingWindow is the number of turns that keep their observations in the baseline mask.
const maskingWindow = 10

func (o Options) baselines(setting Setting, s *Split) []Row {
	drop := s.row(setting, BaselineDrop, "")
	masked := s.masked()
	mask := s.row(setting, BaselineMask, masked)
	mask.Tokens, mask.Bag, mask.Chars = o.Count(masked), 0, 0 // the tool calls of a history are not lists of names
	text := o.list(setting, s)
	list := s.row(setting, BaselineList, text)
	list.Tokens = o.Count(text)
	return []Row{drop, mask, list}
}

// list returns a text of only identifiers, the most frequent first, as many as fit.
func (o Options) list(setting Setting, s *Split) string {
	times := map[string]int{}
	for _, m := range s.Evicted {
		for id := range s.reading.names(m).ids {
			times[id]++
		}
	}
	ids := slices.SortedFunc(maps.Keys(times), func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	room, out := setting.MaxTokens, []string{}
	for _, id := range ids {
		if cost := o.Count(" " + id); cost <= room {
			room -= cost
			out = append(out, id)
		}
	}
	return strings.Join(out, " ")
}

// row scores a text that replaces the evicted messages.
func (s *Split) row(setting Setting, name, text string) Row {
	r := Row{Setting: setting, Name: name, Source: s.Source, Sessions: 1, Needed: len(s.Needed)}
	long := expanded(text)
	r.Found, r.Anywhere = s.InView(readableLines(long)), s.InView(long)
	r.Handoff = s.facts.judge(long)
	r.Bag, r.Chars = bag(text), utf8.RuneCountInString(text)
	if s.fits && r.UserOf > 0 {
		r.FittingOf, r.Fitting = 1, count(r.User == r.UserOf)
	}
	return r
}

// String returns the name of the setting in reports.
func (s Setting) String() string { return fmt.Sprintf("%dk/%d", s.Window/1000, s.MaxTokens) }
