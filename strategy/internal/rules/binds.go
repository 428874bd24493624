package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// strongBinds lists words that mark a rule; orders has the exceptions. weakBinds lists
// words that mark a weaker rule, except in a question or in a sentence that begins with
// a phrase of ownNeeds.
var (
	strongBinds = []string{"must", "never ", "do not", "don't", "dont ", "always ", "make sure", "not allowed", "should not", "shouldn't", "no more than",
		"only use", "only the", "only change", "only edit", "only if", "only when", "only run", "only touch",
		"必须", "不要", "只能", "请勿", "禁止", "不得", "不许", "务必", "切勿", "严禁", "しないで", "ないでください", "ないで、", "ないで。", "だけにして", "てはいけない", "てはならない", "必ず", "하지 마", "반드시",
		"niemals ", "auf keinen fall", "darf nicht", "dürfen nicht", "darfst nicht", "sollst nicht", "soll nicht", "sollen nicht", "bitte nicht", "bitte kein", "bitte nur ", "achte darauf", "stelle sicher",
		"il ne faut pas", "il faut ", "assure-toi", "assurez-vous", "veillez à", "asegúrate", "nunca ", "no debe", "não deve", "нельзя", "обязательно", "никогда не", "ни в коем случае", "لا أريد ", "ممنوع", "لا يجوز", "يجب أن "}
	weakBinds = []string{"only ", "ensure ", "avoid ", "at most", "at least", "keep ", "prefer ", "without "}
	// descriptive lists phrases with "never" and "only" that state a fact.
	descriptive = []string{"assumes ", "assuming ", "currently ", "expects ", "expected to", "never called", "never used", "never set", "never gets", "never been", "never run", "only called", "only used", "only get", "only has", "have only ", "only one"}
)

// BindValue is the value of a sentence that states what must or must not be
// done. Losing it costs more than losing a name.
const BindValue = 2.5

// Binds returns the value of a sentence as a rule, 0 if it is not a rule.
func Binds(t string) float64 {
	if at := strings.LastIndex(t, "? "); at >= 0 { // a question is no rule: "only 50%? that is not fair"
		t = t[at+len("? "):]
	}
	if len(t) < leastBinding || len(t) > 600 || strings.HasSuffix(strings.TrimRight(t, " \"'`)”’»"), "?") || strings.HasSuffix(t, ":") && len(t) < 60 {
		return 0
	}
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	switch {
	case describes(low), prose.BeginsAny(low, supposing), prose.BeginsAny(low, doubting), prose.BeginsAny(low, consequences), atLine(low), idleAbroad(low), onlyOf.MatchString(low):
		return 0
	case orders(low), forbidsThing(low):
		return BindValue
	case Inquires(low) || prose.BeginsAny(low, ownNeeds):
		return 0
	case setsPlainly(low):
		return PlainValue
	case setsByShape(low):
		return ShapeValue
	case advises(low) || TellsToDo(low) && doBefore.MatchString(low):
		return 0.5
	}
	return 0
}

// describes reports whether a sentence has a phrase of descriptive. A "never" or an "only"
// at the beginning of a clause commands: "…, and never run it again".
func describes(low string) bool {
	for _, w := range descriptive {
		for from := 0; ; {
			i := strings.Index(low[from:], w)
			if i < 0 {
				break
			}
			before := strings.TrimRight(low[:from+i], " ")
			if from += i + len(w); !prose.BeginsAny(w, []string{"never run", "never use", "never set", "only use"}) || before != "" && !strings.ContainsRune(",;:.!", rune(before[len(before)-1])) && !joinsClause(before) {
				return true
			}
		}
	}
	return false
}

// joinsClause reports whether a text ends with a word that joins a clause to another.
func joinsClause(before string) bool {
	last := before[strings.LastIndexByte(before, ' ')+1:]
	return slices.Contains([]string{"and", "but", "or", "so", "please"}, last)
}

// leastBinding is the minimum length of a rule, in bytes: "no mocks!".
const leastBinding = 9

// consequences lists beginnings of sentences that describe an effect or report an error,
// for example in a pasted review.
var consequences = []string{"this causes ", "this ensures ", "this means ", "this results ", "this leads ", "this makes ", "this is the ", "that causes ", "that means ", "which means ", "which causes ",
	"error: ", "warning: ", "fatal: ", "exception: ", "panic: ", "typeerror: ", "valueerror: "}

// atLine reports whether a sentence begins with the place of a line in a file, as the
// output of a test or a compiler does: "store_test.go:80: ".
func atLine(low string) bool {
	word, _, ok := strings.Cut(low, " ")
	place, number, numbered := strings.Cut(strings.TrimSuffix(word, ":"), ":")
	number, _, _ = strings.Cut(number, ":")
	return ok && numbered && strings.HasSuffix(word, ":") && strings.Contains(place, ".") && number != "" && prose.IsDigits(number)
}

// supposing lists beginnings of sentences that suppose something.
var supposing = []string{"my assumption ", "my guess ", "my theory ", "i assume ", "i guess ", "i suspect ", "i suppose ", "i imagine ", "i was wondering", "i wonder "}

// doubting lists beginnings of questions without a question mark: "shouldn't the URL be
// the remote one".
var doubting = []string{"shouldn't ", "shouldnt ", "mustn't it ", "should we ", "should i "}

// ownNeeds lists beginnings of sentences that state a wish and not a rule for the work.
var ownNeeds = []string{"i need to ", "i have to ", "i want to ", "i'd prefer to ", "we still need to ", "as for "}

// orders reports whether a sentence with a word of strongBinds states what must or must
// not be done. The words of describing count only if they tell somebody to do something,
// and "only" does not count in a question.
func orders(low string) bool {
	asked := Inquires(low)
	for _, w := range strongBinds {
		if asked && strings.HasPrefix(w, "only") {
			continue
		}
		for from := 0; ; {
			i := strings.Index(low[from:], w)
			if i < 0 {
				break
			}
			from += i + len(w)
			before, after := low[:from-len(w)], low[from:]
			switch {
			case slices.Contains(describing, strings.TrimSpace(w)):
				if toldTo(before, after) {
					return true
				}
			case strings.HasPrefix(w, "only"):
				if before == "" && w == "only the" { // "only the list is affected"
					if clause, _, _ := strings.Cut(after, ","); prose.HasAny(clause, []string{" may ", " must ", " should "}) {
						return true
					}
				} else if toldTo(before, "") || TellsToDo(low) {
					return true
				}
			case !givesReason(before):
				return true
			}
		}
	}
	return false
}

// describing lists words of strongBinds that also appear in statements of fact:
// "it is never condensed", "I don't remember".
var describing = []string{"never", "always", "do not", "don't", "dont"}

// toldTo reports whether a word such as "never" or "only" tells somebody to do something or
// not to do it. before and after are the texts around the word.
func toldTo(before, after string) bool {
	words := strings.FieldsFunc(before, func(r rune) bool { return r == ' ' || r == '\t' })
	if len(words) == 0 {
		return true
	}
	last, next := words[len(words)-1], strings.TrimSpace(after)
	switch {
	case strings.HasPrefix(next, "want "):
		return true
	case prose.BeginsAny(next, []string{"need", "have to"}), describesDeed(next): // "you don't need to", "(…), never returns"
		return false
	}
	return strings.HasSuffix(last, "**") || strings.ContainsRune(",;:.!?(—–-", rune(last[len(last)-1])) || slices.Contains(addressing, last)
}

// describesDeed reports whether a text begins with a verb in a form that describes
// ("returns", "is") and does not command ("return").
func describesDeed(next string) bool {
	verb, _, _ := strings.Cut(next, " ")
	return len(verb) > 3 && strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") && !strings.HasSuffix(verb, "us") || slices.Contains([]string{"was", "were", "is", "are", "has", "had", "been"}, verb)
}

// givesReason reports whether a word after this text is part of a reason ("because the
// field must be set"). A statement in a reason is not a rule.
func givesReason(before string) bool {
	at := max(strings.LastIndex(" "+before, " because "), strings.LastIndex(" "+before, " since "))
	return at >= 0 && !strings.Contains(before[at:], ",")
}

// doing lists verbs that begin an instruction to somebody.
var doing = []string{"change", "edit", "touch", "modify", "use", "run", "add", "fix", "make", "do", "write", "create", "update", "remove", "delete", "show", "return", "print", "commit", "push", "apply", "include", "keep", "put", "set", "allow", "test",
	"implement", "review", "look", "read", "check", "work", "call", "import", "export", "build", "move", "rename", "replace", "refactor", "respond", "reply", "answer", "output", "give", "send", "please", "just", "then", "try", "fold", "list", "explain", "let's", "let", "go", "get", "revert", "undo", "stop", "start", "find", "search", "investigate"}

// TellsToDo reports whether a sentence or clause in lower case begins with a verb of doing.
func TellsToDo(low string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(low, " -*•"), " ")
	return slices.Contains(doing, strings.Trim(first, ",:;."))
}

// advises reports whether a sentence uses a word of weakBinds to tell somebody how to
// work. "To ensure" gives a purpose and "it only returns" describes, so they don't count.
func advises(low string) bool {
	told := TellsToDo(low)
	for _, w := range weakBinds {
		i := strings.Index(low, w)
		if i < 0 || i > 0 && (low[i-1] == '-' || low[i-1] >= 'a' && low[i-1] <= 'z') {
			continue
		}
		before, after := low[:i], low[i+len(w):]
		verb, _, _ := strings.Cut(strings.TrimSpace(after), " ")
		switch w {
		case "only ", "at most", "at least":
			if told || !strings.HasPrefix(low, "only the") && toldTo(before, after) || prose.HasAny(before, []string{" should ", " may "}) {
				return true
			}
		case "without ":
			if told && (strings.HasSuffix(verb, "ing") || verb == "new" || verb == "any" || verb == "further" || verb == "other") {
				return true
			}
		default:
			if !strings.HasSuffix(strings.TrimSpace(before), "to") && !prose.HasAny(before, []string{" can ", " could "}) && toldTo(before, after) { // "we can just keep them" is a permission
				return true
			}
		}
	}
	return prose.HasAny(low, []string{" is required", " are required", "needs to be ", "need to be ", "has to be ", "have to be ", "needs to stay ", "need to stay ", "needs to keep ", "needs to work "})
}
