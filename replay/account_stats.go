package replay

import (
	"context"
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// Stats sums up the sessions of an archive.
type Stats struct {
	Sessions []SessionStats `json:"sessions"` // sessions with calls or costs, by folder
	Total    SessionStats   `json:"total"`
}

// SessionStats is one session, or the sum of all. Tokens are the recorded
// counts; see [AccountMoney] for the money.
type SessionStats struct {
	Session     string         `json:"session"`
	Calls       int            `json:"calls"`     // failed and refused ones included
	In          int            `json:"tokens_in"` // tokens and money are counted for the other calls
	Sent        int            `json:"tokens_sent"`
	Compactions int            `json:"compactions"`
	Stages      map[string]int `json:"compactions_by_stage"` // a compaction counts for each stage that took part
	Between     int            `json:"calls_between_steps"`  // calls that edited something and made no compaction, see [AccountEdit]
	Fallbacks   int            `json:"fallbacks"`            // failures with a fallback, except lost races
	Failed      int            `json:"calls_failed"`
	Refused     int            `json:"calls_refused"` // the provider refused the request, or answered with an error
	Recalls     int            `json:"recalls"`       // in archived messages; a filter uses the time of the step that archived them
	SentUSD     float64        `json:"estimated_prompts_usd"`
	RawUSD      float64        `json:"projected_raw_prompts_usd"`
	WholeUSD    float64        `json:"projected_whole_prompts_usd"` // the same value, under the key that events use
	Unpriced    int            `json:"calls_without_price"`
	Measured    int            `json:"calls_measured"` // calls whose usage the provider reported
	MeasuredUSD float64        `json:"measured_usd"`   // the provider's bill for these calls, answers included
	SummaryUSD  float64        `json:"summaries_usd"`
}

// A Filter selects calls.
type Filter struct {
	Since time.Time // zero = all
	Agent string    // "" = all
}

// ReadStats sums up the sessions of an archive. The card prices all of them;
// the zero card stands for the card of each session's model.
func ReadStats(ctx context.Context, archive storage.Archive, f Filter, card price.Card) (*Stats, error) {
	out := &Stats{Sessions: []SessionStats{}, Total: SessionStats{Session: "all", Stages: map[string]int{}}}
	for info, err := range record.Sessions(ctx, archive) {
		if err != nil {
			return nil, err
		}
		name := info.ID
		if name == "" {
			name = info.Dir
		}
		s, err := record.OpenDirToRead(ctx, archive, info.Dir)
		if err != nil {
			return nil, err
		}
		a, err := ReadAccount(ctx, name, s, card)
		if err != nil {
			return nil, err
		}
		if one := a.stats(f); one.Calls > 0 || one.Compactions > 0 || one.Measured > 0 || one.SummaryUSD > 0 {
			out.Sessions = append(out.Sessions, one)
			out.Total.add(&one)
		}
	}
	return out, nil
}

func (f Filter) accepts(at time.Time, agent string) bool {
	return (f.Since.IsZero() || !at.Before(f.Since)) && (f.Agent == "" || f.Agent == agent)
}

// stats sums up the part of a session that the filter selects.
func (a *Account) stats(f Filter) SessionStats {
	s := SessionStats{Session: a.Session, Stages: map[string]int{}}
	for i := range a.Calls {
		c := &a.Calls[i]
		if !f.accepts(c.At, c.Agent) {
			continue
		}
		s.Calls++
		if c.Failed != "" {
			s.Failed++
			continue
		}
		if c.Refused {
			s.Refused++
			continue
		}
		s.In += c.In
		s.Sent += c.Sent
		s.SentUSD += c.Cost
		s.RawUSD += c.Raw
		s.WholeUSD += c.Whole
		s.Unpriced += one(!c.priced)
	}
	s.steps(a, f)
	for _, x := range a.summaries {
		if f.accepts(x.at, x.agent) {
			s.SummaryUSD += x.usd
		}
	}
	for i := range a.Usages {
		if u := &a.Usages[i]; f.accepts(u.At, u.Agent) {
			s.Measured++
			s.MeasuredUSD += u.USD
		}
	}
	for i := range a.Errors {
		e := &a.Errors[i]
		s.Fallbacks += one(e.GotOver() && !e.lostRace() && f.accepts(e.At, e.Agent))
	}
	for i := range a.Recalls {
		s.Recalls += one(f.accepts(a.Recalls[i].At, a.Recalls[i].Agent))
	}
	return s
}

// steps counts the compactions that the filter selects, and the edits between
// them.
func (s *SessionStats) steps(a *Account, f Filter) {
	for i := range a.Between {
		s.Between += one(f.accepts(a.Between[i].At, a.Between[i].Agent))
	}
	for i := range a.Steps {
		if !f.accepts(a.Steps[i].At, a.Steps[i].Agent) {
			continue
		}
		s.Compactions++
		seen := map[string]bool{}
		for _, stage := range a.Steps[i].Stages {
			if !seen[stage] {
				s.Stages[stage]++
			}
			seen[stage] = true
		}
	}
}

func (s *SessionStats) add(o *SessionStats) {
	s.Calls += o.Calls
	s.In += o.In
	s.Sent += o.Sent
	s.Compactions += o.Compactions
	s.Between += o.Between
	s.Fallbacks += o.Fallbacks
	s.Failed += o.Failed
	s.Refused += o.Refused
	s.Recalls += o.Recalls
	s.SentUSD += o.SentUSD
	s.RawUSD += o.RawUSD
	s.WholeUSD += o.WholeUSD
	s.Unpriced += o.Unpriced
	s.Measured += o.Measured
	s.MeasuredUSD += o.MeasuredUSD
	s.SummaryUSD += o.SummaryUSD
	for stage, n := range o.Stages {
		s.Stages[stage] += n
	}
}

// stageColumns returns the columns of a table of stages: the stages that can
// take part in a compaction, then the callers' own stages that did.
func (s *Stats) stageColumns() []string {
	never := []string{"tidy", "shrink"} // tidy makes no compaction, and shrink makes no edits
	names := slices.DeleteFunc(append(compact.StageNames(), "media", "duplicates"), func(name string) bool { return slices.Contains(never, name) })
	for _, name := range slices.Sorted(maps.Keys(s.Total.Stages)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// WriteCSV writes a line per session, and a line for the total. The error is
// the writer's.
func (s *Stats) WriteCSV(w io.Writer) error {
	head := []string{"session", "calls", "tokens_in", "tokens_sent", "compactions"}
	stages := s.stageColumns()
	for _, stage := range stages {
		head = append(head, "compactions_"+stage)
	}
	lines := [][]string{append(head, "fallbacks", "calls_failed", "recalls", "estimated_prompts_usd", "projected_raw_prompts_usd", "calls_without_price", "calls_measured", "measured_usd", "summaries_usd", "calls_between_steps", "calls_refused")}
	for _, x := range append(s.Sessions[:len(s.Sessions):len(s.Sessions)], s.Total) {
		line := []string{cell(x.Session), itoa(x.Calls), itoa(x.In), itoa(x.Sent), itoa(x.Compactions)}
		for _, stage := range stages {
			line = append(line, itoa(x.Stages[stage]))
		}
		lines = append(lines, append(line, itoa(x.Fallbacks), itoa(x.Failed), itoa(x.Recalls), dollars(x.SentUSD), dollars(x.RawUSD), itoa(x.Unpriced), itoa(x.Measured), dollars(x.MeasuredUSD), dollars(x.SummaryUSD), itoa(x.Between), itoa(x.Refused)))
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// cell returns a text that a spreadsheet does not read as a formula.
func cell(s string) string {
	if strings.ContainsAny(s[:min(len(s), 1)], "=+-@\t\r") {
		return "'" + s
	}
	return s
}
