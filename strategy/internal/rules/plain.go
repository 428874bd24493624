package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Patterns of sentences in lower case that set a rule without a word of strongBinds.
var (
	staysSo  = lazy.Compile(`^(?:and |und )?(?:\S+ ){1,4}(?:stays?|remains?|bleibt|bleiben) (?:at |on |bei |auf )?(?:\d|as (?:is|it is|they are)\b|unchanged|untouched|the same\b|in place\b|private\b|gleich\b|unverändert|wie (?:es|sie|er) (?:ist|sind))`)
	limitsTo = lazy.Compile(`(?:^|[ ,(])(?:max\.?|maximum|at most|no more than|not more than|höchstens|maximal)(?: of)? [€$£]?\d|(?:^|[ ,(])(?:max\.?|maximum) (?:one|two|three) |[a-z] (?:at most|no more than|not more than) (?:one|two|three|four|five|six|ten) `)
	stopping = lazy.Compile(`^(?:please |pls |and |ok |okay |no |bitte )*(?:stop|quit) ([a-z]+ing)\b`)
	askFirst = lazy.Compile(`^(?:please |pls |always |bitte )*(?:ask|report|tell me|tell us|check with|confirm|show me|get my|wait for my|frag|frage|melde|sag mir|zeig mir)\b.* (?:before|bevor|vor dem|vorher|first)\b`)
	doBefore = lazy.Compile(` before (?:any |each |every |you |[a-z]+ing\b)`)
	onceOnly = lazy.Compile(`\b(?:once|one time|just this time|this one time|einmal|dieses eine mal|dieses mal)(?:$|[,.;:!)]| (?:so|for|only|to|und|and)\b)`)
)

// describingWords lists words of sentences that describe and do not demand.
var describingWords = []string{" is ", " are ", " was ", " were ", " has ", " had ", " have ", " takes ", " took ", " uses ", " used ", " ran ", " runs ", " needs ", " gets ", " got ", " shows ", " returns ", " ist ", " sind ", " war ", " dauert "}

// setsPlainly reports whether a lower-case sentence sets a rule. Such a sentence says
// that something stays unchanged, limits an amount, stops a habit, asks for a question
// before a step, chooses one thing over another, or permits something with a limit.
func setsPlainly(low string) bool {
	low = strings.TrimSpace(low)
	words := strings.Fields(low)
	if len(words) > mostPlain || Inquires(low) {
		return false
	}
	told := TellsToDo(low)
	if habit := stopping.FindStringSubmatch(low); habit != nil && !slices.Contains([]string{"running", "existing", "pending", "remaining", "thing", "everything"}, habit[1]) {
		return true
	}
	describes := !told && prose.HasAny(" "+low, describingWords)
	return staysSo.MatchString(low) || askFirst.MatchString(bareClause(low)) || limitsTo.MatchString(low) && !describes || told && takesOne(low) ||
		prose.BeginsAny(low, []string{"nur ", "bitte nur "}) && !prose.BeginsAny(low, idleOnly) || permitsOnce(low) || prose.HasAny(low, []string{"until i say", "if i say so", "when i say so", "unless i say", "unless i ask", "unless i tell", "without my ok", "without my approval", "without my permission", "bis ich es sage", "ohne meine zustimmung"})
}

// PlainValue is the value of a sentence that sets a rule plainly. It is below BindValue,
// because such a sentence is less certain.
const PlainValue = 1.5

// mostPlain is the maximum number of words of a sentence that sets a rule plainly.
const mostPlain = 30

// idleOnly lists beginnings of German sentences with "nur" that set no rule.
var idleOnly = []string{"nur noch ", "nur so ", "nur zur ", "nur kurz", "nur eine frage", "nur ein", "nur weil ", "nur wenn ", "nur dass ", "nur damit "}

// takesOne reports whether an instruction names a choice and its alternative: "use
// tabs, not spaces". A part of the sentence forbids something in the same way: "no ads".
func takesOne(low string) bool {
	parts := prose.Clauses(low)
	for _, c := range parts[1:] {
		c = strings.TrimRight(c, ".! ")
		if rest, ok := strings.CutPrefix(c, "not "); ok && len(strings.Fields(rest)) <= 4 && !prose.BeginsAny(rest, []string{"sure", "only", "just", "yet", "because", "that", "if", "now", "really", "urgent"}) {
			return true
		}
		if n := len(strings.Fields(c)); prose.BeginsAny(c, []string{"no ", "kein "}) && n >= 2 && forbidsThing(c+" !") {
			return true
		}
	}
	return false
}

// permitsOnce reports whether a sentence permits something with a limit: once, or only a
// part.
func permitsOnce(low string) bool {
	for _, bare := range strings.SplitAfter(low, ". ") {
		if prose.HasAny(bare, lifting) && !prose.HasAny(bare, notLifting) && (onceOnly.MatchString(strings.TrimSpace(bare)) || prose.HasAny(bare, []string{"may only ", ", only ", ", but only", " only for ", " only if ", ", nur ", "aber nur "})) {
			return true
		}
	}
	return prose.BeginsAny(low, []string{"ja, aber nur ", "yes, but only ", "ok, but only ", "okay, but only ", "yes, once", "ja, einmal"})
}

// completing lists words that begin a short sentence which belongs to the rule before it.
var completing = []string{"nothing", "no", "not", "only", "once", "never", "max", "at most", "nur", "sonst", "nichts", "kein", "keine"}

// Completes reports whether a sentence of fewer than four words belongs to the rule before
// it: "Nothing else."
func Completes(t string) bool {
	low := strings.ToLower(t)
	if len(strings.Fields(t)) > 3 || strings.HasSuffix(t, "?") || prose.BeginsAny(low, harmless) || prose.BeginsAny(low, []string{"not sure", "not urgent", "no hurry", "never mind"}) {
		return false
	}
	return slices.ContainsFunc(completing, func(w string) bool { return prose.BeginsWord(low, w) })
}
