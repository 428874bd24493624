// Package eval measures summaries on recorded sessions by what counts: whether
// the identifiers that the rest of the session needed are still in the view.
//
// A session is cut where it first passes 85 % of the window. The last six
// assistant turns before the cut are recent, system and developer messages are
// pinned, everything else is evicted and summarised. An identifier is needed
// when assistant text or tool arguments after the cut use it, the evicted part
// had it, and no user message or result after the cut showed it again before
// that use. The score, future-need recall, is the share of the needed
// identifiers that the view still names, over all sessions together.
package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// A Session is a recorded conversation.
type Session struct {
	Name     string
	Source   string // where it comes from: sessions of one source are reported together
	Messages []message.Message
}

// A Setting is one size of window with the limit of its summaries, in tokens.
type Setting struct {
	Window    int
	MaxTokens int
}

// Settings are those that the project's figures are given for.
func Settings() []Setting {
	return []Setting{{32_000, 1500}, {128_000, 1500}, {128_000, 4000}}
}

// Options of [Run]. The zero value measures every strategy with the extractive
// summariser at the usual settings; only Count is required.
type Options struct {
	Settings   []Setting           // default Settings()
	Strategies []string            // default all of them
	Summarizer strategy.Summarizer // default strategy.Extractive
	Redact     func(string) string // default none
	// Count says what a text costs; a message costs four more than its texts.
	Count func(text string) int
	// Progress is told of each session that is done. May be nil.
	Progress func(done, of int)

	// Reading says what an identifier is: one of [Readings]. Default literal.
	Reading string

	reading *reading
}

// perMessage is what a message costs beside its texts, in tokens.
const perMessage = 4

// Run measures. Sessions that never fill a window, or whose end needs nothing
// of what was evicted, do not count there. Errors are those of the context and
// of an unknown strategy or reading; a summary that could not be had counts as none.
func Run(ctx context.Context, sessions []Session, o Options) (Report, error) {
	o, strategies, err := o.defaults()
	if err != nil {
		return Report{}, err
	}
	var report Report
	for i, s := range sessions {
		for _, setting := range o.Settings {
			split, ok := o.reading.cut(s, setting.Window, o.cost)
			if !ok || len(split.Needed) == 0 {
				continue
			}
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

// measure writes one summary and scores it.
func (o Options) measure(ctx context.Context, setting Setting, st strategy.Strategy, s *Split) (Row, error) {
	w := strategy.Writer{Strategy: st, Summarizer: o.Summarizer, MaxTokens: setting.MaxTokens, Redact: o.Redact}
	sum, err := w.Write(ctx, strategy.Input{Messages: s.Evicted, Visible: slices.Concat(s.Pinned, s.Recent), Count: o.Count})
	if ctx.Err() != nil {
		return Row{}, ctx.Err()
	}
	row := s.row(setting, st.Name)
	row.Found = s.InView(sum.Text)
	sections, _, _ := strings.Cut(sum.Text, "## "+strategy.References+"\n")
	row.InSections = s.InView(sections)
	row.Tokens, row.Retention, row.Invented = sum.Tokens, sum.Retention, invented(sum.Text, s)
	if err != nil {
		row.Failed = 1
	}
	return row, nil
}

// invented counts the identifiers of a summary that its source does not have,
// letter by letter, be it as a part of a longer one.
func invented(text string, s *Split) int {
	source, in := s.reading.names(s.Evicted...), s.reading.names()
	in.add(text)
	n := 0
	for id := range in.ids {
		if !source.have(id) && !source.holds(id) {
			n++
		}
	}
	return n
}

// holds reports whether id stands inside of an identifier: the end of a path,
// the beginning of a hash.
func (n *names) holds(id string) bool {
	for have := range n.ids {
		if strings.Contains(have, id) {
			return true
		}
	}
	return false
}

// Baselines that every report holds.
const (
	BaselineNone    = "no summary"
	BaselineMasking = "masking, window 10"
	BaselineList    = "bare list"
)

// maskingWindow is how many turns keep their observations in the baseline.
const maskingWindow = 10

func (o Options) baselines(setting Setting, s *Split) []Row {
	none, list, masking := s.row(setting, BaselineNone), s.row(setting, BaselineList), s.row(setting, BaselineMasking)
	none.Found = s.InView("")
	text := o.list(setting, s)
	list.Found, list.Tokens = s.InView(text), o.Count(text)
	masked := s.masked()
	masking.Found = s.InView(masked)
	masking.Tokens = o.Count(masked)
	return []Row{none, list, masking}
}

// list is the identifiers alone, those worth most per token, as many as fit.
func (o Options) list(setting Setting, s *Split) string {
	r := strategy.Request{Strategy: strategy.Brief, Messages: s.Evicted, Visible: slices.Concat(s.Pinned, s.Recent), First: 1, Count: o.Count}
	all := strategy.NewHistory(r).Index.All()
	type entry struct {
		text  string
		cost  int
		worth float64
	}
	entries := make([]entry, 0, len(all))
	for _, e := range all {
		cost := o.Count(" " + e.Text)
		entries = append(entries, entry{e.Text, cost, e.Score / float64(max(cost, 1))})
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(b.worth, a.worth) })
	room, out := setting.MaxTokens, []string{}
	for _, e := range entries {
		if e.cost <= room {
			room -= e.cost
			out = append(out, e.text)
		}
	}
	return strings.Join(out, " ")
}

func (s *Split) row(setting Setting, name string) Row {
	return Row{Setting: setting, Name: name, Source: s.Source, Sessions: 1, Needed: len(s.Needed)}
}

// String names the setting as reports do.
func (s Setting) String() string { return fmt.Sprintf("%dk/%d", s.Window/1000, s.MaxTokens) }
