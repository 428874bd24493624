package rules

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Patterns of clauses in lower case that set a rule by their shape. A clause begins the
// sentence, or follows a comma or an "and".
var (
	nobodyDoes  = lazy.Compile(`^(?:nobody|no one|none of you) (?:else )?([a-z]+s) \S`)
	nothingDoes = lazy.Compile(`^nothing (?:else )?(?:may|shall|goes|leaves|ships|gets|is to be) [a-z]`)
	notToBe     = lazy.Compile(`(?:^| is | are )not to be ([a-z]+(?:ed|en|un|pt|ld|nt))\b`)
	sacred      = lazy.Compile(`^(?:\S+ ){1,8}(?:is|are|stays?|remains?) (?:sacred|off[- ]limits|taboo|untouchable|out of bounds|non-negotiable|not negotiable)\b`)
	handsOff    = lazy.Compile(`^(?:keep your )?hands off(?: |$)|^(?:stay|keep) (?:away from|out of|off|clear of) |^steer clear of `)
	leaveIt     = lazy.Compile(`^leave (?:[^,:]+ )(?:alone|as (?:is|are|it is|it was|they are|they were)\b|untouched|unchanged|intact|in place|(?:at|on) \d)|^leave (?:those|these|them|it|that|this)$|^leave the [a-z-]+(?: [a-z-]+)?$`)
	doMyself    = lazy.Compile(`^i(?:'ll| will) (?:[^,]*[^,r] (?:myself|on my own)\b|(?:do|handle|take care of|merge|deploy|push|release|publish|send|answer) (?:the (?:[a-rt-z]|se)|all))`)
	everyNeeds  = lazy.Compile(`^(?:every|each|all|any) (?:[a-z-]+ ){1,4}needs? (?:an? |its |their |my |our |at least |to )|^(?:anything|everything|whatever) .*\bneeds? (?:my |our |your |a second |an? (?:[a-z]+ )?(?:approval|review|signature|test|ticket|comment)\b)`)
	allThrough  = lazy.Compile(`^(?:all|every|any) (?:[a-z-]+ ){1,3}go(?:es)? (?:only )?through `)
	everyNew    = lazy.Compile(`^(?:every|each|all|any) new (?:[a-z-]+ ){1,3}(?:go(?:es)?|gets?|belongs?|lives?) `)
	everything  = lazy.Compile(`^everything (?:else )?(?:in (?:[a-z]+ )?[a-z]+$|(?:under|via|behind|has to|needs? to|stays) )`)
	onlyOf      = lazy.Compile(`^only (?:[a-z]+ ){0,2}of (?:them|those|these|the|us)\b`)
	onePer      = lazy.Compile(`^(?:only )?(?:one|two|three|a single|a separate|\d+) (?:[a-z-]+ ){1,2}(?:per|for each|for every) (?:[a-z-]+[^s] )?[a-z-]+$`)
	stayWithin  = lazy.Compile(`^stay (?:below|under|within|above|inside|close to|compatible|on (?:the |version |[a-z]+ ?\d)|with (?:the |[a-z]+ ?\d)|in (?:the |this |that ))`)
	stopAt      = lazy.Compile(`^stop (?:at|on|after|when|if|as soon as|once) |^(?:abort|quit|pause|halt|roll ?back) (?:only )?(?:when|if|as soon as|once) `)
	stopIf      = lazy.Compile(`^(?:if|when|once|as soon as) [^,]{3,60}, (?:please )?(?:stop|abort|pause|quit|halt|roll back|ask|wait|do nothing)(?:$|,| (?:the|it|all|and|me|my|everything|first|at|for)\b)`)
	tellFirst   = lazy.Compile(`^(?:tell|notify|inform|ping|warn|ask) \S+ (?:\S+ ){0,3}before (?:and after|you|any|each|every)\b`)
	watchOnly   = lazy.Compile(`^(?:watch|touch|change|edit|modify|use|count|consider|delete|move) only \S`)
	noneMay     = lazy.Compile(`^no (?:\S+ ){1,3}(?:may|must|shall) |^(?:under no circumstances|on no account|in no case|at no point (?:may|must|shall)|by no means (?:may|must)) |^mind the `)
	notWithout  = lazy.Compile(`\b(?:nothing|anything|no \S+) without (?:me|us|my|our|asking)\b`)
	useFor      = lazy.Compile(`^use (?:[^ ]+ ){1,4}for (?:[a-z-]+[^s' ]s|[a-z]+ing|all|every|each|any)\b`)
	noMoreThan  = lazy.Compile(`^(?:under|below|within|less than|not more than|no more than|at most) (?:[€$£]?\d[\d.,]*|one|two|three|four|five|ten) ?[a-z%€$£]+(?: (?:in|per|for|each|of|please|total|a|the|all|[a-z]+s)\b)*$`)
	roundTo     = lazy.Compile(`^round (?:to|up|down|all|every|each|amounts|prices|numbers|values)\b`)
	stickTo     = lazy.Compile(`^(?:stick (?:to|with)|adhere to|comply with|conform to) `)
	seeFirst    = lazy.Compile(`^(?:let me (?:see|read|check|review|approve|look at|look over|test|try|know)|run it by me|wait for my|i want to (?:see|read|check|review|approve)) (?:.* )?before (?:you|any|it|we|they|anything)\b|(?: |^)i want to (?:see|check|review|approve) (?:[a-z]+ )?before (?:you|any|it|we|they)\b|^(?:wait for|not without) my (?:ok|go|approval|permission|review|answer|confirmation|signal)\b`)
	askEach     = lazy.Compile(`^(?:always )?ask me (?:for|about|on|before|first|each|every)\b`)
	mayBut      = lazy.Compile(`\byou (?:may|can) [^.?]*(?: but|,|,? except) (?:not|no|never|nothing|only|for the|leave|hands off)\b`)
	nothingElse = lazy.Compile(`[^ ] (?:and )?nothing (?:else|more)(?: [a-z]+)?$`)
	untilNo     = lazy.Compile(`^(?:until|till) (?:then|i|we|you|the|that|this|further|[a-z]+day|it)\b.*[ ,](?:no|nothing|only|not|nobody|leave|keep)\b`)
	inLanguage  = lazy.Compile(`^(?:[\p{L}-]+ ){1,4}(?:in|en|auf) (?:british |american |simple |plain )?(?:english|german|french|spanish|italian|anglais|français|allemand|espagnol|deutsch|englisch|französisch|spanisch|inglés|español|alemán|francés)$`)
	neverAsk    = lazy.Compile(`\b(?:don't|do not|needn't|no longer) (?:have to |need to )?ask\b.*\b(?:any ?more|for|about|again|each|every)|\bno need to ask\b`)
	fromNowOn   = lazy.Compile(`^from now on,? |[a-z] from now on$`)
	youMay      = lazy.Compile(`^(?:yes |ok |okay )?you (?:may|are allowed to|'re allowed to)(?: now| also| always)? ([a-z]+) `)
	thatStays   = lazy.Compile(`^(?:that one|this one|those|these|the rest|everything else|all the rest) (?:stays?|remains?)(?: put| there| in)?$`)
	allOther    = lazy.Compile(`^(?:for )?(?:all|every|everything|each)(?: [a-z-]+){0,4}$`)
)

// Words with which a clause of these shapes is no rule: "nobody knows", "not to be
// confused", "you may notice". moreDoing lists verbs that begin an instruction.
var (
	unruled   = strings.Fields("knows cares wants needs uses likes understands has is was says thinks answers replies complains remembers expects sees believes minds works seems always ever really reads asks reports notices wrote")
	idleToBe  = strings.Fields("confused needed found seen expected supposed mistaken broken taken")
	idleMay   = strings.Fields("assume want need notice see have find be get encounter recall remember know think wonder also already not well ask say feel hit run")
	moreDoing = strings.Fields("verify validate confirm back backup save measure benchmark lint format ask tell notify consult dump snapshot stash pull rebase sync quote escape log document ship book order deploy publish upload save store place name prefer answer speak comment sign compare limit leave follow take pick choose request drop convert cut hash mask encrypt round wait tag target merge close open post mark treat load compress copy")
)

// considering lists beginnings of sentences that consider or report.
var considering = []string{"i think", "i thought", "i believe", "maybe ", "perhaps ", "if ", "what if", "it ", "it's ", "this ", "there ", "they ", "he ", "she ", "in theory", "apparently ", "somebody ", "someone ", "we could ", "one could ", "you could ", "you said ", "the docs ", "last ", "yesterday ", "so far "}

// momentary lists words of sentences that describe the present.
var momentary = []string{" at the moment", " currently", " it seems", " right now"}

// ShapeValue is the value of a sentence that sets a rule by its shape.
const ShapeValue = 1.4

// setsByShape reports whether a lower-case sentence, which is no question, sets a rule by its
// shape.
func setsByShape(low string) bool {
	low = strings.TrimSpace(low)
	return len(strings.Fields(low)) <= mostPlain && (rulesByShape(low) || rulesAbroad(low))
}

// BindsInFile returns the value of a sentence of a file of instructions as a rule. Such a file
// has many rules, so a sentence in it does not count as a rule by its shape alone.
func BindsInFile(t string) float64 {
	if v := Binds(t); v != ShapeValue {
		return v
	}
	return 0
}

// rulesByShape reports whether a lower-case sentence, which is no question, sets a rule by
// its shape: "nobody touches X", "X only", "leave X as it is", "until then no X".
func rulesByShape(low string) bool {
	low = bareClause(low)
	if prose.HasAny(low, momentary) {
		return false
	}
	if stopIf.MatchString(low) || tellFirst.MatchString(low) || stopAt.MatchString(low) { // clauses splits at "if" and "and"
		return true
	}
	if label, rest, ok := strings.Cut(low, ": "); ok && len(strings.Fields(label)) <= mostOfLabel && !describesFact(label) && (stands(rest) || slices.ContainsFunc(prose.Clauses(rest), shapedClause)) {
		return true
	}
	if prose.BeginsAny(low, considering) {
		return false
	}
	if setsValue(low) || mayBut.MatchString(low) && !prose.HasAny(low, notLifting) || nothingElse.MatchString(low) && !describesFact(low) || stands(low) {
		return true
	}
	told := TellsToDo(low) || ordersMore(low)
	if told && (doBefore.MatchString(low) || takesOne(low)) {
		return true
	}
	parts := prose.Clauses(low)
	for i, c := range parts {
		if c = bareClause(c); c == "" || i > 0 && prose.BeginsAny(c, considering) {
			continue
		}
		if i == 0 && i+1 < len(parts) && strings.HasPrefix(parts[1], "no ") && strings.HasSuffix(c, " only") && shortOnly(c, true) {
			return true
		}
		if shapedClause(c) || i == len(parts)-1 && !(i > 0 && describesFact(low)) && shortOnly(c, i == 0) {
			return true
		}
		if allOther.MatchString(c) && i+1 < len(parts) && TellsToDo(parts[i+1]) && strings.Contains(low, c+": ") {
			return true
		}
	}
	return untilNo.MatchString(low) && !describesFact(low)
}

// bareClause removes the marks at the end of a clause, and the words at its beginning that
// say nothing.
func bareClause(c string) string {
	c = strings.Trim(c, " .!\"'”“*_")
	for again := true; again; {
		again = false
		for _, w := range []string{"please ", "pls ", "and ", "but ", "so ", "ok ", "okay ", "also ", "then ", "meanwhile ", "meanwhile, ", "no ,", "yes ", "bitte ", "no, ", "yes, ", "ok, ", "okay, ", "hold on, ", "however, ", "aber ", "und ", "et ", "mais ", "y ", "pero ", "e ", "mas ", "por favor, ", "por favor ", "stp ", "s'il te plaît, ", "s'il vous plaît, "} {
			if rest, ok := strings.CutPrefix(c, w); ok {
				c, again = rest, true
			}
		}
	}
	for _, w := range []string{", please", " please", ", bitte", " bitte", " stp", ", por favor", " por favor", ", s'il te plaît", " s'il te plaît"} {
		c = strings.TrimSuffix(c, w)
	}
	return strings.TrimSpace(c)
}

// shapedClause reports whether a clause by itself sets a rule by its shape.
func shapedClause(c string) bool {
	if m := nobodyDoes.FindStringSubmatch(c); m != nil && !slices.Contains(unruled, m[1]) {
		return true
	}
	if m := notToBe.FindStringSubmatch(c); m != nil && !slices.Contains(idleToBe, m[1]) {
		return !prose.HasAny(c, []string{"seem", "turn", "appear", "happen"})
	}
	if onePer.MatchString(c) && !describesDeed(c[strings.LastIndexByte(c, ' ')+1:]) {
		return true
	}
	if nothingDoes.MatchString(c) && !prose.HasAny(c, []string{"wrong", " when ", " if "}) || everyNeeds.MatchString(c) && !prose.HasAny(c, []string{" to run", " to work", " to start", " to pass", " to build", " because "}) {
		return true
	}
	for _, p := range []*lazy.Pattern{sacred, handsOff, leaveIt, doMyself, everyNew, everything, stayWithin, roundTo, stickTo, seeFirst, askEach, thatStays, allThrough, watchOnly, noneMay, notWithout} {
		if p.MatchString(c) {
			return true
		}
	}
	if useFor.MatchString(c) && !strings.Contains(c, " one for ") {
		return true
	}
	if noMoreThan.MatchString(c) && !describesFact(c) && !strings.HasSuffix(c, "ed") {
		return true
	}
	return untilNo.MatchString(c) && !describesFact(c) || inLanguage.MatchString(c) && !describesFact(c) && !prose.BeginsAny(c, []string{"i ", "we ", "you ", "written", "the ", "is ", "he ", "she "})
}

// stands reports whether a sentence gives a lasting permission.
func stands(low string) bool {
	if neverAsk.MatchString(low) || fromNowOn.MatchString(low) && !describesFact(low) {
		return true
	}
	m := youMay.FindStringSubmatch(low)
	return m != nil && !slices.Contains(idleMay, m[1])
}

// ordersMore reports whether a sentence begins with a verb of moreDoing.
func ordersMore(low string) bool {
	first, _, _ := strings.Cut(low, " ")
	return slices.Contains(moreDoing, strings.TrimRight(first, ",;."))
}

// Limits of the shortest rules, in words.
const (
	mostOfLabel = 3 // "House rules: …"
	mostOnly    = 4 // "Python 3.11 only"
	mostTold    = 10
	mostWithout = 8
	mostUse     = 5
)

// idleWith lists words of an instruction "use X" that is only for one step.
var idleWith = strings.Fields("the this that it these those them option to for now here first then instead again my your skill skills tool tools command")

// shortOnly reports whether a short clause at the end of a sentence sets a rule: "X only",
// "without new X", "use X". whole says that it is the whole sentence.
func shortOnly(c string, whole bool) bool {
	words := strings.Fields(c)
	n := len(words)
	if n < 2 || describesFact(c) {
		return false
	}
	switch first := words[0]; {
	case words[n-1] == "only":
		idle := strings.HasSuffix(first, "ed") || describesDeed(first) && !ident.Whole(first) || slices.Contains([]string{"the", "i", "we", "you", "that", "read", "view", "and"}, first)
		return n <= mostTold && (TellsToDo(c) || ordersMore(c)) || n <= mostOnly && !idle
	case first == "without":
		return whole && n <= mostWithout && slices.Contains([]string{"any", "new", "further", "other", "additional", "extra", "external", "changing", "touching", "breaking", "adding"}, words[1])
	case first == "use":
		return whole && n <= mostUse && !slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(idleWith, w) })
	case first == "ignore":
		return whole && n <= mostTold && n > 2 && slices.Contains([]string{"the", "all", "any", "everything"}, words[1]) && !prose.BeginsAny(strings.TrimPrefix(c, "ignore "), lastMessage)
	}
	return false
}

// describesFact reports whether a clause has a word of describingWords.
func describesFact(c string) bool { return prose.HasAny(" "+c+" ", describingWords) }
