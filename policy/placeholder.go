package policy

import "strings"

// Edit masks part p of message i, a tool result, whatever the window is: what a
// stage of somebody's own proposes. False: it is masked already, or a placeholder
// would not make the message smaller by MinTokens.
func (m Mask) Edit(v *View, i, p int) (Edit, bool) { return m.edit(v, i, p) }

// edit masks one result, or reports false: it is masked already, or would not
// get smaller.
func (m Mask) edit(v *View, i, p int) (Edit, bool) {
	if v.Masked(i, p) || m.shortened(v, i, p) {
		return Edit{}, false
	}
	e := Edit{Decision: Masked, Reason: "observation outside of the window", Text: &TextEdit{Index: i, Part: p}}
	for _, segments := range m.forms(v, i, p, m.mark(v, i, p)) {
		if n, ok := saved(v, i, p, segments); ok && n >= m.MinTokens {
			e.Text.Segments = segments
			return e, true
		}
	}
	return Edit{}, false
}

// mark is the placeholder of a result, with the sizes of the original.
func (m Mask) mark(v *View, i, p int) Mark {
	form := m.form(v, i, p)
	o := v.Origin(i, p)
	k := Mark{Form: form, Chars: o.Chars, Tokens: max(o.Tokens, 0), Ref: o.Ref, Turn: v.TurnOf(i)}
	if form == FormCall || form == FormCallRecall {
		k.Exit, k.Ended = exitCode(v.Unedited(i).Parts[p].Text)
	}
	template, err := v.Forms.Template(form)
	if err == nil && (strings.Contains(template, "{tokens}") || m.CostAsChars) {
		k.Tokens = v.OriginTokens(i, p)
	}
	if m.CostAsChars {
		k.Chars = k.Tokens
	}
	if form == FormResult && len(v.Messages[i].Parts) == 1 { // it speaks of the message
		k.Tokens += v.Tokens[i] - v.Cost.Text(v.Messages[i].Parts[p].Text)
	}
	return k
}

// form is the form of the placeholder of a result. Only where the model can ask
// for it does a reference stand in it. A call that is pinned is not named: other
// bytes of it, in another call of the hook, must not change the placeholder.
func (m Mask) form(v *View, i, p int) string {
	form := m.Form
	if form == "" {
		form = FormObservation
	}
	if form == FormCall && v.Recall {
		form = FormCallRecall
	}
	if c, ok := v.tools().call(i, &v.Messages[i].Parts[p]); ok && v.Pinned[c.at] || m.MaxChars > 0 {
		return plainForm(form)
	}
	return form
}

// forms returns what may stand for a result, the best first.
func (m Mask) forms(v *View, i, p int, mark Mark) [][]Segment {
	text := v.Messages[i].Parts[p].Text
	if blocks := v.blocks(i, p, text); len(blocks) > 0 {
		return m.around(v, text, blocks, mark)
	}
	if plain := mark; mark.Form != plainForm(mark.Form) {
		plain.Form, plain.Ended, plain.Exit = plainForm(mark.Form), false, 0
		return [][]Segment{{{Mark: &mark}}, {{Mark: &plain}}}
	}
	placeholder, err := v.Forms.Render(mark, Answered{})
	room := m.MaxChars - runes(placeholder) - 1
	if err != nil || m.MaxChars == 0 || room <= 0 {
		return [][]Segment{{{Mark: &mark}}}
	}
	return [][]Segment{{{To: runePrefix(text, room)}, {Lit: "\n"}, {Mark: &mark}}}
}

// around returns the forms that keep the dispatch blocks of a result: with a
// placeholder for what is outside of them, and without where that is wanted.
func (m Mask) around(v *View, text string, blocks []Segment, mark Mark) [][]Segment {
	for _, b := range blocks {
		if m.CostAsChars {
			mark.Chars -= v.Cost.Text(text[b.From:b.To])
		} else {
			mark.Chars -= runes(text[b.From:b.To])
		}
	}
	mark.Chars, mark.Ended, mark.Exit = max(mark.Chars, 0), false, 0
	named, bare := mark, mark
	named.Form, bare.Form = FormDispatch, FormBlocks
	var kept []Segment
	for i, b := range blocks {
		if i > 0 {
			kept = append(kept, Segment{Lit: blockSeparator})
		}
		kept = append(kept, b)
	}
	forms := [][]Segment{append([]Segment{{Mark: &named}}, kept...)}
	if m.BareBlocks {
		forms = append(forms, append([]Segment{{Mark: &bare}}, kept...))
	}
	return forms
}

// shortened reports whether a result is what this stage leaves of one that
// keeps its beginning, so that it is recognized without a ledger, too.
func (m Mask) shortened(v *View, i, p int) bool {
	text := v.Messages[i].Parts[p].Text
	at := strings.LastIndexByte(text, '\n')
	if m.MaxChars == 0 || at < 0 || runes(text) > m.MaxChars {
		return false
	}
	k, ok := v.Forms.ParseMark(text[at+1:])
	return ok && (k.Chars > runes(text) || k.Chars == 0)
}

func runePrefix(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}

// shrinks reports whether rewriting part p of message i makes the message
// smaller in tokens and no larger in characters, nor in bytes where it came
// from a wire.
func shrinks(v *View, i, p int, segments []Segment) bool {
	_, ok := saved(v, i, p, segments)
	return ok
}

// saved returns how many tokens rewriting part p of message i saves, and false
// where it saves none or makes the message longer.
func saved(v *View, i, p int, segments []Segment) (tokens int, ok bool) {
	old := v.Messages[i].Parts[p]
	text, err := v.rendered(i, p, segments)
	if err != nil || !noLonger(text, old.Text) {
		return 0, false
	}
	if len(v.Messages[i].Parts) > fewParts {
		tokens = v.Cost.Text(old.Text) - v.Cost.Text(text)
		return tokens, tokens > 0 && (v.Messages[i].Raw() == nil || len(text) <= len(old.Text))
	}
	m, err := v.Messages[i].WithPartText(p, text)
	if err != nil || len(m.Raw()) > len(v.Messages[i].Raw()) { // what its wire writes may be longer than the text
		return 0, false
	}
	tokens = v.Tokens[i] - v.Cost.Message(m)
	return tokens, tokens > 0
}

// fewParts is how many parts a message may have for its whole cost to be asked
// for at each of them; of more, the parts are compared, which is as good and
// does not take time in the square of their number.
const fewParts = 16

// noLonger reports whether a has at most as many characters as b. It does not
// count a long b.
func noLonger(a, b string) bool {
	const widest = 4 // bytes of a character
	n := runes(a)
	return n <= len(b)/widest || n <= runes(b)
}
