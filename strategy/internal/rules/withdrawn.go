package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/lazy"
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
// message or ends its task, and returns the rest of the message.
func Withdraws(text string) (rest string, ok bool) {
	var other []string
	prose.Sentences(text, func(t string, heading bool) {
		if !heading && len(other) == 0 {
			if more, ends := cancels(t, text); ends {
				if ok = true; more == "" {
					return
				}
				t = more
			} else if takesBack(t) {
				ok = true
				return
			}
		}
		other = append(other, t)
	})
	return strings.Join(other, " "), ok
}

// Cancels returns the sentence at the beginning of a message that ends the task of the previous
// message, "" if there is none. The rules of that message may still hold: "stop that" can be
// about a call.
func Cancels(text string) (sentence string) {
	first := true
	prose.Sentences(text, func(t string, heading bool) {
		if !first {
			return
		}
		if _, ok := cancels(t, text); ok {
			sentence = t
		}
		first = heading
	})
	return sentence
}

// canceling lists beginnings of sentences that end the task of the previous message, if the
// message also has a phrase of noTask. Without such a phrase, "cancel that" can be about an
// order of a customer.
var (
	canceling = []string{"cancel that", "cancel this", "cancel the task", "drop that", "drop this", "drop the task", "stop that", "stop this", "stop the task", "abandon that", "abandon this", "abandon the task", "abort that", "abort this", "abort the task", "skip that", "skip this"}
	noTask    = []string{"don't need ", "do not need ", "no longer need", "not needed", "instead", "different task", "other task", "new task", "another task"}
)

// cancels reports whether a sentence at the beginning of a message ends the previous task. rest
// is another request in the same sentence.
func cancels(t, message string) (rest string, ok bool) {
	low := afterCourtesy(t)
	for _, w := range withdrawing {
		rest, ok := strings.CutPrefix(low, w)
		if !ok || !strings.ContainsRune(dashes, firstRune(rest)) {
			continue
		}
		if another := requestIn(t, rest); another != "" && TellsToDo(strings.ToLower(another)) {
			return another, true
		}
	}
	for _, c := range canceling {
		rest, ok := strings.CutPrefix(low, c)
		if ok && (rest == "" || strings.ContainsRune(dashes, firstRune(strings.TrimLeft(rest, " "))) || prose.BeginsAny(rest, []string{" task", " request", " one", " please", " and ", " for now"})) {
			return requestIn(t, rest), prose.HasAny(strings.ReplaceAll(strings.ToLower(message), "’", "'"), noTask)
		}
	}
	return "", false
}

// dashes separate the parts of a sentence.
const dashes = ",.;:!–—-"

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// requestIn returns the end of a sentence, in lower case rest, if it is a request.
func requestIn(t, rest string) string {
	for _, w := range []string{" task", " request", " one", " please", " for now"} {
		rest = strings.TrimPrefix(rest, w)
	}
	rest = strings.TrimPrefix(strings.TrimLeft(rest, dashes+" "), "and ")
	if len(strings.Fields(rest)) < 2 || prose.HasAny(rest, []string{" need ", "needed"}) {
		return ""
	}
	if t = strings.TrimSpace(t); len(t) > len(rest) && strings.EqualFold(t[len(t)-len(rest):], rest) {
		return t[len(t)-len(rest):]
	}
	return rest
}

// afterCourtesy returns a sentence in lower case without the words of courtesy at its beginning.
func afterCourtesy(t string) string {
	low := strings.ToLower(strings.TrimSpace(t))
	for _, courtesy := range []string{"sorry", "oh", "oops", "no", "ok", "hm", "hmm", "my bad", "actually", "wait"} {
		if prose.BeginsWord(low, courtesy) {
			low = strings.TrimLeft(low[len(courtesy):], " ,.!:-–—…")
		}
	}
	return low
}

// takesBack reports whether a sentence takes back the previous message.
func takesBack(t string) bool {
	low := afterCourtesy(t)
	if len(low) >= mostWithdrawing {
		return false
	}
	for _, f := range forgetting {
		if rest, ok := strings.CutPrefix(low, f+" "); ok && slices.ContainsFunc(lastMessage, func(m string) bool { return begins(rest, m) }) {
			return true
		}
	}
	return slices.ContainsFunc(withdrawing, func(w string) bool { return begins(low, w) })
}

// begins reports whether a sentence begins with a phrase for the previous message, and names no
// other thing behind it: "never mind the typo" and "ignore that file" are about a thing.
func begins(low, phrase string) bool {
	rest, ok := strings.CutPrefix(low, phrase)
	if !ok || rest != "" && prose.IsWordByte(rest[0]) {
		return false
	}
	if prose.BeginsAny(phrase, []string{"wrong "}) || rest == "" || strings.ContainsRune(dashes, firstRune(strings.TrimLeft(rest, " "))) {
		return true
	}
	next, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	return slices.Contains([]string{"please", "then", "thanks", "thank", "again", "now", "too", "message", "request", "one", "instruction", "instructions", "comment", "question", "i", "for", "and", "because", "as", "it", "my", "was", "just", "above", "before", "earlier"}, strings.Trim(next, dashes))
}

// endedTask matches a sentence that ends a task by its name.
var endedTask = lazy.Compile(`(?i)^(?:(?:ok|okay|please|and|now|then),? )*(?:cancel|forget(?: about)?|drop|abandon|scrap|stop|abort|skip) (?:the|that|this|my) ([\w -]+?) (?:task|ticket|feature|story|job|assignment|idea|work)\b|\b(?:don['’]t|do not|no longer) need the ([\w -]+?) (?:any ?more|any longer|after all)\b`)

// Ends returns the name of the task that a sentence ends, "" if it ends none.
func Ends(t string) string {
	m := endedTask.FindStringSubmatch(t)
	if m == nil {
		return ""
	}
	return strings.ToLower(strings.TrimSpace(m[1] + m[2]))
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
