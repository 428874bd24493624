package policy

import "strings"

// Edit returns the edit that masks part p of message i, a tool result. It ignores the
// window, and is meant for stages that users write. It returns false if the result is
// already masked, or if a placeholder would save less than MinTokens.
func (m Mask) Edit(v *View, i, p int) (Edit, bool) { return m.edit(v, i, p) }

// edit returns the edit that masks one result. It returns false if the result is
// already masked, or if a placeholder would not save enough.
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

// mark returns the placeholder of a result, with the sizes of the original.
func (m Mask) mark(v *View, i, p int) Mark {
	form := m.form(v, i, p)
	o := v.Origin(i, p)
	k := Mark{Form: form, Chars: o.Chars, Tokens: max(o.Tokens, 0), Ref: o.Ref, Turn: v.TurnOf(i)}
	if form == formCall || form == formCallRecall {
		k.Form = newest(form)
		k.Exit, k.Ended = exitCode(v.Unedited(i).Parts[p].Text)
		v.quote(i, p, &k)
	}
	template, _ := v.Forms.Template(form) // the rendering returns the error
	if strings.Contains(template, "{tokens}") || m.CostAsChars {
		k.Tokens = v.OriginTokens(i, p)
	}
	if m.CostAsChars {
		k.Chars = k.Tokens
	}
	if form == formResult && len(v.Messages[i].Parts) == 1 { // the form "result" states the size of the message
		k.Tokens += v.Tokens[i] - v.Cost.Text(v.Messages[i].Parts[p].Text)
	}
	return k
}

// form returns the form of the placeholder of a result. The placeholder holds a
// reference only if the model can recall the result. It does not name a pinned call,
// because a later change of the pinned bytes must not change the placeholder.
func (m Mask) form(v *View, i, p int) string {
	form := m.Form
	if form == "" {
		form = formObservation
	}
	if form == formCall && v.Recall {
		form = formCallRecall
	}
	if c, ok := v.tools().Call(i, &v.Messages[i].Parts[p]); ok && v.Pinned[c.At] || m.MaxChars > 0 {
		return plainForm(form)
	}
	return form
}

// forms returns the candidate replacements of a result, the best first.
func (m Mask) forms(v *View, i, p int, mark Mark) [][]Segment {
	text := v.Messages[i].Parts[p].Text
	if blocks := v.blocks(i, p, text); len(blocks) > 0 {
		return m.around(v, text, blocks, mark)
	}
	if plain := mark; namesCall(mark.Form) {
		plain = plain.without(plainForm(mark.Form))
		if unsaid, ok := v.unsaid(i, p, mark); ok {
			return [][]Segment{{{Mark: &mark}}, {{Mark: &unsaid}}, {{Mark: &plain}}}
		}
		return [][]Segment{{{Mark: &mark}}, {{Mark: &plain}}}
	}
	placeholder, err := v.Forms.Text(mark)
	room := m.MaxChars - runes(placeholder) - 1
	if err != nil || m.MaxChars == 0 || room <= 0 {
		return [][]Segment{{{Mark: &mark}}}
	}
	return [][]Segment{{{To: runePrefix(text, room)}, {Lit: "\n"}, {Mark: &mark}}}
}

// around returns the candidates that keep the dispatch blocks of a result: with a
// placeholder for the text outside the blocks and, if BareBlocks is set, without
// one.
func (m Mask) around(v *View, text string, blocks []Segment, mark Mark) [][]Segment {
	for _, b := range blocks {
		if m.CostAsChars {
			mark.Chars -= v.Cost.Text(text[b.From:b.To])
		} else {
			mark.Chars -= runes(text[b.From:b.To])
		}
	}
	mark.Chars = max(mark.Chars, 0)
	named, bare := mark.without(formDispatch), mark.without(formBlocks)
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

// shortened reports whether a result was already cut by this stage to its
// beginning and a placeholder. It looks only at the text, so that it works
// without a ledger.
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

// shrinks reports whether rewriting part p of message i makes the message smaller
// in tokens and no larger in characters. A message that was decoded from a
// request must also not grow in bytes.
func shrinks(v *View, i, p int, segments []Segment) bool {
	_, ok := saved(v, i, p, segments)
	return ok
}

// saved returns how many tokens rewriting part p of message i saves. ok is false if the
// rewriting saves no tokens or makes the message longer.
func saved(v *View, i, p int, segments []Segment) (tokens int, ok bool) {
	old := v.Messages[i].Parts[p]
	text, err := v.rendered(i, p, segments)
	if err != nil || !isAtMostAsLong(text, old.Text) {
		return 0, false
	}
	if len(v.Messages[i].Parts) > fewParts {
		tokens = v.Cost.Text(old.Text) - v.Cost.Text(text)
		return tokens, tokens > 0 && (v.Messages[i].Raw() == nil || len(text) <= len(old.Text))
	}
	m, err := v.Messages[i].WithPartText(p, text)
	if err != nil || len(m.Raw()) > len(v.Messages[i].Raw()) { // the encoded form may be longer than the text
		return 0, false
	}
	tokens = v.Tokens[i] - v.Cost.Message(m)
	return tokens, tokens > 0
}

// fewParts is the largest number of parts for which saved computes the cost of
// the whole message for each part. For more parts it compares single parts, which
// is just as good and avoids quadratic time.
const fewParts = 16

// isAtMostAsLong reports whether a has at most as many characters as b. It avoids
// counting a long b.
func isAtMostAsLong(a, b string) bool {
	const widest = 4 // most bytes of a character
	n := runes(a)
	return n <= len(b)/widest || n <= runes(b)
}
