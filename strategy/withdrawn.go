package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// withdrawing lists beginnings of sentences that take back the previous message. A
// sentence that begins with a word of forgetting takes the last message back only if it
// also names that message with a phrase of lastMessage.
var (
	withdrawing = []string{"wrong chat", "wrong window", "wrong session", "wrong thread", "wrong tab", "never mind", "nevermind", "scratch that", "forget it", "disregard that", "disregard it"}
	forgetting  = []string{"ignore", "disregard", "forget", "please ignore", "please disregard", "please forget"}
	lastMessage = []string{"last message", "previous message", "last request", "previous request", "last one", "previous one", "that", "what i said", "what i just said", "what i wrote", "my last", "my previous", "the last", "the previous"}
)

// mostWithdrawing is a length in bytes: a longer sentence does more than take a message
// back.
const mostWithdrawing = 60

// withdraws reports whether a message begins with a sentence that takes back the previous
// message, and returns the other sentences.
func withdraws(text string) (rest string, ok bool) {
	var other []string
	prose.Sentences(text, func(t string, heading bool) {
		if !heading && len(other) == 0 && takesBack(t) {
			ok = true
			return
		}
		other = append(other, t)
	})
	return strings.Join(other, " "), ok
}

// takesBack reports whether a sentence takes back the previous message.
func takesBack(t string) bool {
	low := strings.ToLower(strings.TrimSpace(t))
	for _, courtesy := range []string{"sorry", "oh", "oops", "no", "ok", "hm", "hmm", "my bad", "actually", "wait"} {
		if prose.BeginsWord(low, courtesy) {
			low = strings.TrimLeft(low[len(courtesy):], " ,.!:-–—…")
		}
	}
	if len(low) >= mostWithdrawing {
		return false
	}
	for _, f := range forgetting {
		if rest, ok := strings.CutPrefix(low, f+" "); ok && prose.BeginsAny(rest, lastMessage) {
			return true
		}
	}
	return prose.BeginsAny(low, withdrawing)
}

// turning lists beginnings of sentences that change the sentences before them.
var turning = []string{"wait", "no wait", "make that ", "make it ", "forget ", "instead", "actually", "scratch that", "on second thought", "correction", "or rather", "sorry, ", "never mind", "moment", "doch ", "vergiss ", "stattdessen", "lieber ", "ach nein", "nein, doch", "quatsch"}

// turnsBack reports whether a sentence begins with a change of the sentences before it:
// "Hmm, make that 30."
func turnsBack(t string) bool {
	low := strings.ToLower(t)
	for _, courtesy := range []string{"oh", "no", "ok", "okay", "hm", "hmm", "well", "but", "and", "ah", "ach", "aber", "und"} {
		if prose.BeginsWord(low, courtesy) {
			low = strings.TrimLeft(low[len(courtesy):], " ,.!:-–—…")
		}
	}
	for _, w := range turning {
		if prose.BeginsWord(low, strings.TrimSpace(w)) {
			return !prose.BeginsAny(low, []string{"wait for ", "waiting", "make it so", "moment of", "forget not", "make it possible"})
		}
	}
	return false
}

// withdrawn returns the user's steps that the next step of the user takes back.
func (h *History) withdrawn() map[int]bool {
	out := map[int]bool{}
	before := -1
	for i := range h.Steps {
		if s := &h.Steps[i]; s.user() && s.Text != "" {
			if _, ok := withdraws(s.Text); ok && before >= 0 {
				out[before] = true
			}
			before = i
		}
	}
	return out
}

// permitting lists phrases with which users lift a ban.
var permitting = []string{"you may ", "you can now ", "you're allowed ", "you are allowed ", "it's ok to ", "it is ok to ", "it's okay to ", "it is okay to ", "it's fine to ", "it is fine to ", "feel free to ", "go ahead and ", "no longer need", "no need to keep ", "is allowed now", "allowed to now", "you can ignore ", "you can change ", "you can touch ", "you can edit ", "you can use "}

// liftedBy returns a suffix with the later sentence in which the user lifted or changed a
// rule. The sentence permits an identifier of the ban, lifts the rule in other words, or
// gives another value. It returns "" if there is none.
func (h *History) liftedBy(f fact) string {
	names := identifiersIn(f.Text)
	return h.laterSentence(f.Step, func(i int, t string) bool {
		if lifted(f.Text, t) || revalued(f.Text, t) {
			return true
		}
		if accepted := h.acceptedValue(i, t); accepted != "" && acceptedFor(f.Text, accepted) {
			return true
		}
		if len(names) == 0 || !forbids(f.Text) || !prose.HasAny(strings.ToLower(t), permitting) || forbids(t) {
			return false
		}
		for name := range identifiersIn(t) {
			if names[name] {
				return true
			}
		}
		return false
	})
}

// forbids reports whether a sentence forbids something.
func forbids(t string) bool {
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	return prose.HasAny(low, []string{"never ", "do not ", "don't ", "dont ", "must not ", "mustn't ", "not allowed", "should not ", "shouldn't ", "avoid ", "without "})
}

// identifiersIn returns the identifiers of a text.
func identifiersIn(text string) map[string]bool {
	out := map[string]bool{}
	identifiers(text, func(_ ident.Kind, s string) { out[s] = true })
	return out
}
