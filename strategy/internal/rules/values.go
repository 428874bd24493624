package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Patterns of lower-case sentences and clauses that state a limit, a condition or a
// permission with a limit.
var (
	// "the budget is 400 euros", "deadline moved: 7 May", "target under 90 s".
	limitIs = lazy.Compile(`^(?:the |our |my |your |a |an |new |hard |das |die |der |unser |unsere |neue |neues |le |la |notre |el |nuestro )*(?:[\p{L}-]+ )?(?:limit|budget|deadline|target|cap|quota|maximum|minimum|threshold|ceiling|cut-?off|freeze|due date|obergrenze|frist|grenze|stichtag|limite|plafond|délai|échéance|date limite|presupuesto|límite|plazo|tope|presupuesto máximo)(?: máximo| per [\p{L}-]+(?: [\p{L}-]+)?| for [\p{L}-]+(?: [\p{L}-]+)?)?[:,]? (?:(?:is|are|stays?|remains?|becomes?|now|moves?|moved|changed|rises|goes|drops|starts?|begins?|ends?|can be|may be|shall be|should be|of|under|below|above|at|up to|until|by|ist|liegt|bleibt|jetzt|von|bis|est|reste|passe|es|sigue|queda|ahora)\b[^.]*)?[€$£]?\d`)
	// "deploys only after the review", "credits only up to 30"
	onlyAfter = lazy.Compile(`^((?:[\p{L}\d_./-]+ ){1,4})only (?:after|once|with|by|via|through|between|up to|until) \S`)
	nothingTo = lazy.Compile(`^nothing (?:in|on|to|into|from|at|under) (?:\S+ ){1,4}(?:after|before|until|till|without|unless|during)\b`)
	eachTime  = lazy.Compile(`\b(?:after|before) (?:each|every) [a-z]`)
	means     = lazy.Compile(`\b(?:above|below|over|under|beyond|more than|less than) [€$£]?\d\S*(?: %| [a-z]+)? (?:means|=|→) \S`)
	isBlocker = lazy.Compile(`^(?:\S+ ){1,6}(?:is|are) an? (?:absolute |hard |strict |clear )?(?:blocker|no-go|must-have|must|deal-?breaker|show-?stopper|red line|hard limit|hard requirement)$`)
	leftAsIs  = lazy.Compile(`^(?:[^,:]+ )leave (?:it |them )?(?:as (?:is|it is|they are)|alone|untouched|unchanged)$|^(?:\S+ ){1,5}(?:lass|lasst|lasse) (?:bitte )?(?:so|wie|in ruhe|unverändert|unangetastet|stehen|drin)\b|^(?:\S+ ){1,5}(?:lass|lasst|lasse)$`)
	moreAsk   = lazy.Compile(`\b(?:above|below|beyond|over|under|otherwise|for more|for anything else|anything else|everything else|darüber)(?: that| this| it| hinaus)?[:,]? (?:you )?(?:have to |must )?(?:ask (?:me|us)|frag(?:st du)? mich)\b`)
	valueOK   = lazy.Compile(`^(?:up to|at most|max\.?|bis zu|jusqu'à|hasta) [€$£]?\d\S*(?: \S+)? (?:is|are|ist|sind|est|es|está) (?:ok|okay|fine|enough|allowed|acceptable|erlaubt|bien)$`)
	isFinal   = lazy.Compile(`\d\S*(?: \S+)? (?:is|are) (?:final|binding|set in stone|non-negotiable)$`)
	grantsFor = lazy.Compile(`\b(?:approv|permission|freigabe|freigegeben|genehmig|erlaubnis|permiso|autorisation|accord|aprobad)\S*.* (?:but|aber|mais|pero) (?:only|nur|seulement|uniquement|solo|sólo) \S`)
	notYet    = lazy.Compile(`^(?:and |und |aber |but )?(?:\S+ ){1,3}(?:not yet|noch nicht)$`)
	neverIn   = lazy.Compile(`^(?:nie|niemals|never) (?:etwas |irgendwas |anything )?(?:an|in|auf|bei|aus|on|from|to) \S`)
	writesIn  = lazy.Compile(`^(?:bitte )?(?:antworte|antwortet|schreib|schreibe|schreibt) .*\bauf (?:deutsch|englisch|französisch|spanisch|italienisch)$`)
	thatNot   = lazy.Compile(`^que (?:el |la |los |las |se )?(?:\S+ ){0,3}?no (?:se |me |lo |la |los |las )?(\p{L}+en?)\b`)
	toLimits  = lazy.Compile(`^(?:redondea|arrondis|arrondissez|runde|rundet|arredonde) \S`)
)

// Words of sentences that report a value and set none, and words before "only" that
// report an event.
var (
	valueThen  = strings.Fields("was were had hit reached exceeded crossed passed missed error failed got gave showed fired war waren hatte erreicht überschritten était fue era seems seem")
	eventsOnly = strings.Fields("it they i we he she this that there error errors bug bugs crash crashes failure failures problem issue warning warnings happens happened fails failed works worked occurs occurred appears appeared runs ran starts started shows showed breaks broke passes passed is are was were do does did can could seen comes came")
	personal   = strings.Fields("i we you they he she it to let dann ich wir er sie es uns yes no nein ja nicht not works")
)

// setsValue reports whether a bare lower-case sentence states a limit, a condition or a
// permission with a limit.
func setsValue(low string) bool {
	if moreAsk.MatchString(low) || grantsFor.MatchString(low) || means.MatchString(low) {
		return true
	}
	if eachTime.MatchString(low) && (TellsToDo(low) || ordersMore(low)) {
		return true
	}
	if statesLimit(low) {
		return true
	}
	for i, c := range prose.Clauses(low) {
		if c = bareClause(c); c != "" && !prose.BeginsAny(c, considering) && (clauseOfValue(c) || i > 0 && statesLimit(c)) {
			return true
		}
	}
	return false
}

// statesLimit reports whether a text begins with a limit and its value.
func statesLimit(low string) bool {
	return limitIs.MatchString(low) && !prose.HasAnyWord(low, valueThen)
}

// clauseOfValue reports whether a clause states a limit or a condition.
func clauseOfValue(c string) bool {
	for _, p := range []*lazy.Pattern{nothingTo, isBlocker, valueOK, isFinal, neverIn, writesIn, toLimits} {
		if p.MatchString(c) {
			return true
		}
	}
	first, _, _ := strings.Cut(c, " ")
	if leftAsIs.MatchString(c) || notYet.MatchString(c) && !describesFact(c) {
		return !slices.Contains(personal, first)
	}
	if m := thatNot.FindStringSubmatch(c); m != nil {
		return !slices.Contains(esFacts, m[1]) && !slices.Contains(esStates, m[1])
	}
	m := onlyAfter.FindStringSubmatch(c)
	if m == nil || describesFact(c[:len(m[1])]) {
		return false
	}
	before := strings.Fields(m[1])
	last := before[len(before)-1]
	return !slices.ContainsFunc(before, func(w string) bool { return slices.Contains(eventsOnly, w) }) && !(len(before) > 1 && describesDeed(last))
}
