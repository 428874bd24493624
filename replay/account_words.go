package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// AccountSums adds up the calls of a session. The tokens sent for a failed call are
// unknown, and nothing was billed for a request that the provider refused, so tokens and
// money count only the other calls.
type AccountSums struct {
	Calls   int // calls that neither failed nor were refused
	Failed  int
	Refused int // the provider refused the request, or answered with an error
	In      int // tokens of the histories
	Sent    int // tokens of the views
}

// Sums adds up the calls.
func (a *Account) Sums() (s AccountSums) {
	for i := range a.Calls {
		c := &a.Calls[i]
		if c.Failed != "" {
			s.Failed++
			continue
		}
		if c.Refused {
			s.Refused++
			continue
		}
		s.Calls, s.In, s.Sent = s.Calls+1, s.In+c.In, s.Sent+c.Sent
	}
	return s
}

// First returns the headline of a page: the tokens sent and the tokens of the full
// history.
func (a *Account) First() string {
	x := a.Sums()
	s := fmt.Sprintf("%s sent %s tokens", counted(x.Calls, "call"), thousands(x.Sent))
	if x.In > x.Sent {
		s += fmt.Sprintf(" in place of %s (%.0f %%)", thousands(x.In), 100*float64(x.Sent)/float64(x.In))
	}
	if a.Money.Priced && a.Money.Raw > a.Money.Sent {
		s += fmt.Sprintf(", for about %s in place of %s", usd(a.Money.Sent), usd(a.Money.Raw))
	}
	return s + "."
}

// Agents reports whether more than one agent called.
func (a *Account) Agents() bool {
	for i := range a.Calls {
		if a.Calls[i].Agent != a.Calls[0].Agent {
			return true
		}
	}
	return false
}

// Window returns the window of the last call, in tokens; 0 if there was no
// call.
func (a *Account) Window() int {
	if len(a.Calls) == 0 {
		return 0
	}
	return a.Calls[len(a.Calls)-1].Window
}

// Sure describes how far the session's record can be relied on: the messages that can
// be recalled, the failures, and the calls above the window.
func (a *Account) Sure() []string {
	over := 0
	for i := range a.Calls {
		c := &a.Calls[i]
		over += one(c.Failed == "" && c.Window > 0 && c.Sent > c.Window)
	}
	var out []string
	switch {
	case a.Lost > 0:
		out = append(out, fmt.Sprintf("Of %s that were edited or removed, %s can't be read from the archive", counted(a.Edited, "message"), thousands(a.Lost)))
	case a.Edited > 0:
		out = append(out, fmt.Sprintf("Each of the %s that were edited or removed can be read from the archive by its reference, redacted", counted(a.Edited, "message")))
	}
	if failures := a.failures(); failures != "" {
		out = append(out, failures)
	} else if len(a.Calls) > 0 {
		out = append(out, "No call failed, and no fallback was used")
	}
	if over > 0 {
		out = append(out, fmt.Sprintf("%s sent more than the window holds", counted(over, "call")))
	} else if len(a.Calls) > 0 {
		out = append(out, "Every prompt was within the window")
	}
	return out
}

// Problems counts the errors, and the failures that had a fallback.
func (a *Account) Problems() (errors, gotOver int) {
	for i := range a.Errors {
		over := one(a.Errors[i].GotOver())
		errors, gotOver = errors+1-over, gotOver+over
	}
	return errors, gotOver
}

// failures counts the failed calls and the listed failures; "" if there are none.
func (a *Account) failures() string {
	failed, listed := a.Sums().Failed, []string{}
	errors, over := a.Problems()
	if errors > 0 {
		listed = append(listed, counted(errors, "error"))
	}
	if over > 0 {
		listed = append(listed, counted(over, "failure")+" recovered")
	}
	said := "No call failed"
	if failed > 0 {
		said = counted(failed, "call") + " failed"
	}
	switch {
	case len(listed) > 0:
		return said + "; below: " + strings.Join(listed, ", ")
	case failed > 0:
		return said
	}
	return ""
}

// What counts the messages of a compaction by decision: "164 messages: 120
// summarized, 44 masked".
func (s *AccountStep) What() string { return goneBy(s.Gone, s.Missing) }

func goneBy(gone []GoneLine, missing int) string {
	n := map[string]int{}
	var kinds []string
	for i := range gone {
		if n[gone[i].Is]++; n[gone[i].Is] == 1 {
			kinds = append(kinds, gone[i].Is)
		}
	}
	slices.SortFunc(kinds, func(x, y string) int { return cmp.Or(cmp.Compare(n[y], n[x]), cmp.Compare(x, y)) })
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = thousands(n[k]) + " " + k
	}
	out := counted(len(gone)+missing, "message")
	if len(words) > 0 {
		out += ": " + strings.Join(words, ", ")
	}
	return out
}

// mostOf is the maximum number of kinds that [AccountStep.Most] names.
const mostOf = 4

// Most names the kinds of messages with the most removed tokens: "Read (33,436
// tokens in 12 messages), …".
func (s *AccountStep) Most() string {
	type kind struct {
		name             string
		tokens, messages int
	}
	var all []kind
	for i := range s.Gone {
		g := &s.Gone[i]
		name := cmp.Or(g.Tool, g.Role)
		at := slices.IndexFunc(all, func(k kind) bool { return k.name == name })
		if at < 0 {
			at, all = len(all), append(all, kind{name: name})
		}
		all[at].tokens, all[at].messages = all[at].tokens+g.Tokens, all[at].messages+1
	}
	slices.SortStableFunc(all, func(x, y kind) int { return cmp.Compare(y.tokens, x.tokens) })
	var words []string
	for _, k := range all[:min(len(all), mostOf)] {
		words = append(words, fmt.Sprintf("%s (%s tokens in %s)", k.name, thousands(k.tokens), counted(k.messages, "message")))
	}
	return strings.Join(words, ", ")
}

// usd formats an amount, with more digits for a small one.
func usd(v float64) string {
	if v != 0 && v < 0.1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}
