package rules

import (
	"strings"

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

// Withdraws reports whether a message begins with a sentence that takes back the previous
// message, and returns the other sentences.
func Withdraws(text string) (rest string, ok bool) {
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

// TurnsBack reports whether a sentence begins with a change of the sentences before it:
// "Hmm, make that 30.".
func TurnsBack(t string) bool {
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

// Permitting lists phrases with which users lift a ban.
var Permitting = []string{"you may ", "you can now ", "you're allowed ", "you are allowed ", "it's ok to ", "it is ok to ", "it's okay to ", "it is okay to ", "it's fine to ", "it is fine to ", "feel free to ", "go ahead and ", "no longer need", "no need to keep ", "is allowed now", "allowed to now", "you can ignore ", "you can change ", "you can touch ", "you can edit ", "you can use "}
