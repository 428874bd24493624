package replay

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/fold"
	"github.com/agentcompact/compact/token"
)

// Write prints the totals as tables: the cost of each policy, the identifiers that it
// keeps, and the tokens that it sends. The error is the writer's.
func (r *Report) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, tokens of %s, prices of %s\n", r.replayed(), countedBy(r.Model), r.cardName())
	for _, window := range r.options.Windows {
		if own := r.totalsAt(window); len(own) > 0 {
			writeKept(&b, window, own)
			writeVerdict(&b, verdictOf(own, r.Sessions))
			writeSent(&b, own)
			writeTidied(&b, own)
			writeWhere(&b, own)
		}
	}
	b.WriteString(legend)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) totalsAt(window int) (own []Total) {
	for _, t := range r.Totals {
		if t.Window == window {
			own = append(own, t)
		}
	}
	return own
}

func writeKept(b *strings.Builder, window int, own []Total) {
	fmt.Fprintf(b, "\nwindow %s: what each policy costs and keeps\n\n", thousands(window))
	rows := [][]string{{"policy", "cost $", "of raw", "", "needed", "", "recall", "user", "failed", "false", "worst"}}
	for _, t := range own {
		rows = append(rows, []string{
			t.label(), fmt.Sprintf("%.2f", t.Cost), fmt.Sprintf("%.1f%%", 100*t.OfRaw.Value), t.OfRaw.Span(), t.needed(), t.Held.Span(),
			t.Recall.short(), t.User.short(), t.Failed.short(), t.falseTold(), t.worst(),
		})
	}
	fold.Table(b, "  ", rows, nil)
	for _, t := range own {
		if t.WorstByWill > 0 {
			fmt.Fprintf(b, "\n  %s: among the sessions where the window forced no compaction, the worst costs %.0f%% of its raw cost\n", t.label(), 100*t.WorstByWill)
		}
	}
}

// writeVerdict prints the recommendation of the page.
func writeVerdict(b *strings.Builder, v *verdict) {
	if v == nil {
		return
	}
	fmt.Fprintf(b, "\n  Take %s. %s\n", v.Policy, v.Words)
	for _, s := range v.Sure {
		fmt.Fprintf(b, "  %s.\n", s)
	}
}

func writeSent(b *strings.Builder, own []Total) {
	b.WriteString("\n  tokens sent, in thousands\n\n")
	rows := [][]string{{"policy", "sent", "cached", "written", "fresh", "answers", "largest", "over", "refus.", "comp.", "change"}}
	for _, t := range own {
		u := t.Usage
		rows = append(rows, []string{
			t.label(), kilo(t.Sent), kilo(u.Cached), kilo(u.Written + u.WrittenHour), kilo(u.Fresh), kilo(u.Output), kilo(t.Largest),
			strconv.Itoa(t.Over), strconv.Itoa(t.Refused), strconv.Itoa(t.Compactions), fmt.Sprintf("%.1f", t.Changed),
		})
	}
	fold.Table(b, "  ", rows, nil)
}

// WriteTimes prints the time that each policy itself takes per call. This time
// is the only figure that differs between two runs. The error is the writer's.
func (r *Report) WriteTimes(w io.Writer) error {
	var b strings.Builder
	b.WriteString("\ntime that each policy itself takes per call, in milliseconds on this machine\n\n")
	fmt.Fprintf(&b, "  %-18s %9s %9s %9s %9s %9s\n", "policy", "window", "mean", "median", "99 of 100", "longest")
	for _, t := range r.Totals {
		if d := t.Elapsed; !t.Reference && len(d) > 0 {
			fmt.Fprintf(&b, "  %-18s %9s %9.2f %9.2f %9.2f %9.1f\n", t.label(), thousands(t.Window),
				ms(mean(d)), ms(d[len(d)/2]), ms(d[len(d)*99/100]), ms(d[len(d)-1]))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func mean(d []time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, x := range d {
		sum += x
	}
	return sum / time.Duration(len(d))
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

const legend = `
  of raw   cost of the calls, as a share of their cost with the whole history
  needed   share of needed identifiers in the view; an answer needs the
           identifiers that it uses and that its full prompt contains
  recall   share of the missing identifiers that the best single recall of a
           call brings back
  user     share of the sentences typed by people and removed by a compaction
           that the view still has right after it
  failed   the same share of the commands whose last run failed
  false    outcomes that a view states and no command had, of all it states
  worst    highest share of raw of a session, of those with 15 calls or more
  over     calls above the window
  refus.   calls for which there was no view
  comp.    steps of the ledger
  change   changed prefixes in 100 calls
  (…)      where 95 of 100 samples of these sessions lie
  *        a reference, for comparison; the summary of summarize is empty
`

// short formats a share; a dash for nil.
func (i *Interval) short() string {
	if i == nil {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*i.Value)
}

func (t *Total) needed() string {
	if t.Kept.Needed == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f%%", 100*t.Held.Value)
}

func (t *Total) worst() string {
	if t.Worst == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f%%", 100*t.Worst)
}

func (t *Total) falseTold() string {
	if t.Kept.Told.Stated == 0 {
		return "–"
	}
	return fmt.Sprintf("%d/%d", t.Kept.Told.False, t.Kept.Told.Stated)
}

// kilo formats a number of tokens in thousands.
func kilo(n int) string {
	if n < 100_000 {
		return fmt.Sprintf("%.1f", float64(n)/1000)
	}
	return thousands((n + 500) / 1000)
}

// replayed describes the replayed sessions and calls.
func (r *Report) replayed() string {
	calls := 0
	for i := range r.Rows {
		if x := &r.Rows[i]; x.Policy == r.Rows[0].Policy && x.Window == r.Rows[0].Window {
			calls += x.Calls
		}
	}
	s := fmt.Sprintf("%s, %s", sessions(r.Sessions), counted(calls, "call"))
	if r.Short > 0 {
		s += fmt.Sprintf(" (%d of less than %s skipped)", r.Short, r.options.Least)
	}
	return s
}

func sessions(n int) string { return counted(n, "session") }

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func (r *Report) cardName() string {
	c := &r.Card
	switch {
	case c.Model == "":
		return "a card of your own (" + c.Source + ")"
	case c.Relative:
		return c.Model + ", ratios only"
	}
	from := strings.Trim(c.Source+", "+c.Date, ", ")
	if from == "" {
		return c.Model
	}
	return fmt.Sprintf("%s (%s)", c.Model, from)
}

// countedBy names the model whose tokens were counted, and states if that is an
// approximation.
func countedBy(model string) string {
	encoding, exact := token.EncodingForModel(model)
	if exact {
		return model
	}
	return fmt.Sprintf("%s (approximated by %s)", model, encoding)
}

func (t *Total) label() string {
	if t.Reference {
		return t.Policy + " *"
	}
	return t.Policy
}

// Span formats the interval of a share.
func (i Interval) Span() string {
	if i.Low == i.High {
		return ""
	}
	return fmt.Sprintf("(%.1f–%.1f)", 100*i.Low, 100*i.High)
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}
