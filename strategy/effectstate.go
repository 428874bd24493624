package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// effectMark returns the beginning of the line of an effect: the effect is done, done
// in part, or only requested.
func effectMark(text string) string {
	if strings.Contains(text, onlyAsked) {
		return "[requested] "
	}
	if strings.Contains(text, partlyDone) {
		return "[done in part] "
	}
	return "[done] "
}

// onlyAsked begins the note about an effect that was requested, and waiting is the note if
// nothing else is known.
const (
	onlyAsked = " (requested, "
	waiting   = onlyAsked + "and not done yet: do not ask again)"
)

// pendingStates lists beginnings of states of a request that is not carried out yet.
// makingVerbs lists verbs whose action is complete when the object exists, whatever its
// state: create_order.
var (
	pendingStates = []string{"pending", "waitlist", "waiting", "awaiting", "queued", "requested", "onhold", "held", "inreview", "underreview", "needsapproval"}
	makingVerbs   = []string{"create", "add", "post", "open", "submit", "schedule", "send", "set", "update", "modify"}
)

// pending reports whether the result of a tool says that its action is not carried out yet.
func (c *Call) pending() bool {
	verb, _ := verbOf(c.Tool)
	if verb == "" || slices.Contains(makingVerbs, verb) || c.Command() != "" {
		return false
	}
	fields := recordOf(body(c.Result))
	return slices.ContainsFunc(fields, func(f field) bool {
		state := plainKey.Replace(strings.ToLower(strings.ReplaceAll(f.text, " ", "")))
		return !f.nested() && (slices.Contains(stateKeys, f.key) || strings.HasSuffix(f.key, "status")) && prose.BeginsAny(state, pendingStates) && !c.asksFor(state)
	})
}

// made returns the identifiers of the object that the result of a tool names.
func (c *Call) made() (out []string) {
	if c.Command() != "" {
		return nil
	}
	fields := recordOf(body(c.Result))
	for i := range fields {
		f := &fields[i]
		if f.ofOwner(c.Tool) {
			continue
		}
		if f.names() || !f.nested() && coined(f.text) && !c.hasValue([]string{f.text}) {
			out = append(out, f.text)
		}
	}
	return out
}

// owners are words in the names of members that name the person for whom an object was made.
var owners = []string{"user", "customer", "account", "owner", "member", "client", "patient", "guest"}

// ofOwner reports whether a member names such a person, and the tool does not make one.
func (f *field) ofOwner(tool string) bool {
	return slices.ContainsFunc(owners, func(o string) bool { return strings.HasPrefix(f.key, o) && !strings.Contains(strings.ToLower(tool), o) })
}

// letterCode reports whether a text is an identifier of capital letters: "HQWPLX".
func letterCode(text string) bool {
	return len(text) > leastID && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// names reports whether a member of a record holds an identifier.
func (f *field) names() bool {
	if f.nested() || len(f.text) < leastID || !strings.ContainsAny(f.text, "0123456789") && !letterCode(f.text) || strings.ContainsAny(f.text, " :") {
		return false
	}
	k := f.key
	return strings.HasSuffix(k, "id") || k == "ref" || k == "reference" || k == "number" || k == "ticket" || k == "code" || strings.HasPrefix(k, "confirmation") || strings.HasSuffix(k, "key")
}

// coined reports whether a value has the form of an identifier that a program made: a
// prefix and a number, as in "T-3001" or "re_90K".
func coined(text string) bool {
	before, after, ok := strings.Cut(strings.ReplaceAll(text, "_", "-"), "-")
	return ok && before != "" && after != "" && len(text) <= mostID && strings.Trim(strings.ToLower(before), "abcdefghijklmnopqrstuvwxyz") == "" &&
		strings.ContainsAny(after, "0123456789") && strings.Trim(strings.ToLower(after), "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// mostID is the maximum length of such an identifier.
const mostID = 24

// leastID is the minimum length of an identifier that names one object.
const leastID = 4

// endingVerbs are verbs of tools that end an object that another call made. settingVerbs
// are verbs of tools whose later call replaces a value that an earlier call set.
var (
	endingVerbs  = []string{"delete", "remove", "cancel", "revoke", "withdraw", "undo", "refund", "return", "close", "reverse", "revert", "void"}
	settingVerbs = []string{"set", "update", "change", "modify", "move", "replace", "assign", "toggle", "switch", "rename"}
	opposites    = [][2]string{{"start", "stop"}, {"pause", "resume"}, {"enable", "disable"}, {"cordon", "uncordon"}, {"suspend", "activate"}, {"lock", "unlock"}}
)

// afterwards describes a later effect on the same object, "" if there is none: the object
// that the call made was deleted or changed, or the value that it set was set again.
func afterwards(e *effect, later []effect) string {
	made, last := e.call.made(), true // last: no other commit followed yet
	for i := range later {
		l := &later[i]
		verb, _ := verbOf(l.call.Tool)
		switch {
		case last && makesCommit(e.call, false) && makesCommit(l.call, true):
			return " (then amended " + stepID(l.step) + ")"
		case makesCommit(l.call, false):
			last = false
		case endsOrSets(verb) && l.call.hasValue(made), opposed(e.call, l.call):
			return " (then " + l.call.name() + " " + stepID(l.step) + ")"
		case rollsOver(e.call.Command(), l.call.Command()) != "":
			return rollsOver(e.call.Command(), l.call.Command()) + stepID(l.step) + ")"
		case e.call.setAgain(l.call, verb):
			return " (then changed again " + stepID(l.step) + ")"
		}
	}
	return ""
}

// makesCommit reports whether a command makes a commit, or with amended, whether it amends one.
func makesCommit(c *Call, amended bool) bool {
	return slices.ContainsFunc(effects.Parts(c.Command()), func(part string) bool {
		return strings.HasPrefix(part, "git commit") && strings.Contains(part, "--amend") == amended
	})
}

// endsOrSets reports whether a tool with a verb ends or changes the object that it gets.
func endsOrSets(verb string) bool {
	return slices.Contains(endingVerbs, verb) || slices.Contains(settingVerbs, verb)
}

// hasValue reports whether an argument of the call is one of the values.
func (c *Call) hasValue(values []string) bool {
	return slices.ContainsFunc(c.Args, func(a Arg) bool { return slices.Contains(values, a.Value) })
}

// setAgain reports whether a later call of the same tool sets the same members of the same
// object to other values.
func (c *Call) setAgain(later *Call, verb string) bool {
	if c.Command() != "" || c.Tool != later.Tool || !slices.Contains(settingVerbs, verb) || len(c.Args) < 2 || len(c.Args) != len(later.Args) || c.Target() != later.Target() {
		return false
	}
	differ := 0
	for i, a := range c.Args {
		if a.Name != later.Args[i].Name {
			return false
		}
		if a.Value != later.Args[i].Value {
			differ++
		}
	}
	return differ > 0 && !slices.Contains([]string{"old", "from", "old_string", "old_text", "find", "search"}, c.Args[0].Name) && later.replaces(c)
}

// replaces reports whether a call that names an old value starts from the value that an
// earlier call set. It returns true for a call that names no old value.
func (c *Call) replaces(earlier *Call) bool {
	old := c.arg("old", "from", "old_value", "old_text", "find", "search")
	return old == "" || old == earlier.arg("old", "from", "old_value", "old_text", "find", "search") && earlier.arg("old", "old_text", "find", "search") == "" || old == earlier.arg("new", "to", "new_value", "new_text", "replace", "replacement")
}

// opposed reports whether two commands differ only in a word and its opposite, as a start
// and a stop of one service do, or only in the version of a package.
func opposed(c, later *Call) bool {
	was, now := effects.Parts(c.Command()), effects.Parts(later.Command())
	if len(was) != 1 || len(now) != 1 {
		return false
	}
	a, b := strings.Fields(was[0]), strings.Fields(now[0])
	if len(a) != len(b) {
		return false
	}
	found := false
	for i := range a {
		switch {
		case a[i] == b[i]:
		case found || !opposite(a[i], b[i]) && !otherVersion(a[i], b[i]):
			return false
		default:
			found = true
		}
	}
	return found
}

func opposite(a, b string) bool {
	return slices.ContainsFunc(opposites, func(o [2]string) bool { return o == [2]string{a, b} || o == [2]string{b, a} })
}

// otherVersion reports whether two words name different versions of one package.
func otherVersion(a, b string) bool {
	for _, sign := range []string{"==", "@"} {
		name, was, ok := cutLast(a, sign)
		same, now, other := cutLast(b, sign)
		if ok && other && name != "" && name == same && was != now && strings.ContainsAny(was, "0123456789") {
			return true
		}
	}
	return false
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// turnedDown lists words that state that a request was not granted.
var turnedDown = []string{"rejected", "declined", "cancelled", "canceled", "revoked", "refused", "denied", "withdrawn"}

// refusedLater returns the first later sentence that says that the object of a call was
// refused, "" if there is none.
func (h *History) refusedLater(c *Call, step int) string {
	return h.refusedSince(c.made(), step, c.Tool)
}

// refusedSince returns the first sentence after a step that says that an object was refused. deed
// names the tool of the call: "cancelled" confirms cancel_order.
func (h *History) refusedSince(made []string, step int, deed string) string {
	if len(made) == 0 {
		return ""
	}
	deed = strings.ToLower(deed)
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.ID <= step || !hasID(s.Text, made) {
			continue
		}
		said := ""
		passages(s.Text, func(one prose.Sentence) {
			about := slices.DeleteFunc(prose.Clauses(one.Text), func(c string) bool { return !hasID(c, lowerAll(made)) })
			words := strings.FieldsFunc(strings.Join(about, " "), func(r rune) bool { return strings.ContainsRune(" ,.;:!?()\"", r) })
			refused := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(turnedDown, w) && !strings.Contains(deed, w[:stem]) }) && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(negations, w) || w == "if" })
			if said == "" && refused && hasID(one.Text, made) {
				said = "then " + stepID(s.ID) + ": " + prose.Quoted(one.Text, maxWords) + ")"
			}
		})
		if said != "" {
			return said
		}
	}
	return ""
}

// lowerAll returns texts in lower case.
func lowerAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = strings.ToLower(t)
	}
	return out
}

// sinceThen returns a line of the previous summary about an effect, with the later changes of the
// effect: a call that ends or changes an object got an identifier from the effect's result,
// or a text says that the request was refused.
func (h *History) sinceThen(line string) string {
	const open = " (do not repeat)"
	if strings.Contains(line, open) {
		line = h.rolledSince(line, open)
		h.eachCall(func(s *Step, c *Call) {
			if c.setsWhat(line) {
				line = strings.Replace(line, open, " (then changed again "+stepID(s.ID)+")", 1)
			}
		})
	}
	made := madeIn(line)
	if len(made) == 0 || !strings.Contains(line, open) && !strings.Contains(line, onlyAsked) {
		return line
	}
	if said := h.refusedSince(made, 0, between(line, "`", "`")); said != "" {
		line = strings.Replace(line, open, " ("+said, 1)
		return strings.Replace(line, waiting, onlyAsked+said, 1)
	}
	h.eachCall(func(s *Step, c *Call) {
		if verb, _ := verbOf(c.Tool); endsOrSets(verb) && c.hasValue(made) && c.Effect() {
			line = strings.Replace(line, open, " (then "+c.name()+" "+stepID(s.ID)+")", 1)
		}
	})
	return line
}

// setsWhat reports whether a call sets what a line of the previous summary says that a call of
// the same tool set: the same members of the same object, to other values.
func (c *Call) setsWhat(line string) bool {
	if verb, _ := verbOf(c.Tool); !slices.Contains(settingVerbs, verb) || !c.Effect() {
		return false
	}
	_, args, ok := strings.Cut(line, "called "+c.name()+" with ")
	args, _, returned := strings.Cut(args, ", which returned: ")
	now := strings.TrimSpace(argsBrief(c))
	return ok && returned && args != now && slices.Equal(memberNames(args), memberNames(now)) && c.arg("old", "old_text", "find", "search") == ""
}

// memberNames returns the names in a text of the form "a=1 b=2".
func memberNames(args string) (out []string) {
	for w := range strings.FieldsSeq(args) {
		if name, _, ok := strings.Cut(w, "="); ok {
			out = append(out, name)
		}
	}
	return out
}

// madeIn returns the identifiers in the result that a line about an effect quotes.
func madeIn(line string) (out []string) {
	_, returned, ok := strings.Cut(line, ", which returned: ")
	if !ok {
		return nil
	}
	for _, member := range strings.FieldsFunc(returned, func(r rune) bool { return strings.ContainsRune(",;()", r) }) {
		if key, value, ok := strings.Cut(strings.TrimSpace(member), ": "); ok {
			f := field{key: plainKey.Replace(strings.ToLower(key)), text: value}
			if f.names() || coined(value) {
				out = append(out, value)
			}
		}
	}
	return out
}

// hasID reports whether a text contains one of the identifiers as a whole word.
func hasID(text string, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		for rest := text; ; {
			i := strings.Index(rest, id)
			if i < 0 {
				return false
			}
			if end := i + len(id); (i == 0 || !prose.IsWordByte(rest[i-1])) && (end == len(rest) || !prose.IsWordByte(rest[end])) {
				return true
			}
			rest = rest[i+len(id):]
		}
	})
}
