package proof

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/replay"
)

// Windows are the windows in the tables of generated sessions. Wide is the window in
// the table of recorded sessions.
var (
	Windows = []int{32_000, 48_000}
	Wide    = []int{128_000}
)

// Presets are the presets in the tables. The tables have all presets.
var Presets = []string{"graduated", "economy", "summarize", "masking", "gateway", "history-reducer"}

const (
	prices = "claude-sonnet-4-5"
	model  = "gpt-4o"
	gap    = 20 * time.Second
)

// References returns the reference policies in the tables.
func References() []string { return []string{"raw", "sliding:10", "drop:6", "summarize:0.85"} }

// Policies returns the policies of the tables, in their order.
func Policies() ([]replay.Policy, error) {
	var all []replay.Policy
	for _, name := range Presets {
		c, err := compact.Preset(name)
		if err != nil {
			return nil, err
		}
		all = append(all, replay.Managed(name, c))
	}
	for _, name := range References() {
		p, _, err := replay.ParseReference(name)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Run replays sessions with the options of the tables; it skips sessions
// smaller than least.
func Run(ctx context.Context, from replay.Source, windows []int, least replay.AtLeast) (*replay.Report, error) {
	policies, err := Policies()
	if err != nil {
		return nil, err
	}
	card, _ := price.For(prices)
	return replay.Run(ctx, from, replay.Options{Policies: policies, Windows: windows, Model: model, Card: card, Gap: gap, Least: least})
}

// Table writes a report as a Markdown table.
func Table(r *replay.Report) string {
	var b strings.Builder
	b.WriteString("| policy | window | cost of raw | needed at use | one recall brings | calls over the window | compactions | changed prefixes in 100 calls |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
	for i := range r.Totals {
		t := &r.Totals[i]
		name := "**" + t.Policy + "**"
		if t.Reference {
			name = t.Policy + " (reference)"
		}
		fmt.Fprintf(&b, "| %s | %d k | %s | %s | %s | %d | %d | %.1f |\n", name, t.Window/1000, share(t.OfRaw), share(t.Held), recalled(t), t.Over, t.Compactions, t.Changed)
	}
	return b.String()
}

// recalled returns the share of the missing identifiers that a recall returns.
// Reference policies have no recall.
func recalled(t *replay.Total) string {
	if t.Recall == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*t.Recall.Value)
}

func share(i replay.Interval) string {
	if i.Low == i.High {
		return fmt.Sprintf("%.1f %%", 100*i.Value)
	}
	return fmt.Sprintf("%.1f %% (%.1f–%.1f)", 100*i.Value, 100*i.Low, 100*i.High)
}

// Caption describes the sessions of a table, and the command that makes it.
func Caption(r *replay.Report, what, command string) string {
	return fmt.Sprintf("%d %s, prices of %s (%s, %s), tokens of %s, a call every %s. In brackets: where 95 of 100 samples of these sessions lie. gateway counts 4 bytes as a token, and history-reducer 4 characters of texts and results. These counts can be too low: the calls that then exceed the window are in the column \"calls over the window\". Made by `%s`.\n",
		r.Sessions, what, r.Card.Model, r.Card.Source, r.Card.Date, r.Model, gap, command)
}

// Put puts text between two markers of a document.
func Put(document, mark, text string) (string, error) {
	begin, end := "<!-- "+mark+" -->\n", "<!-- /"+mark+" -->"
	head, rest, found := strings.Cut(document, begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("the document has no place for %s", mark)
	}
	return head + begin + text + end + tail, nil
}

// Between returns the text between two markers of a document.
func Between(document, mark string) string {
	_, rest, _ := strings.Cut(document, "<!-- "+mark+" -->\n")
	text, _, _ := strings.Cut(rest, "<!-- /"+mark+" -->")
	return text
}
