package strategy

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// Values of a sentence in a text that is cut. The sentences with the lowest value by
// length are dropped, so that a rule or a request survives wherever it stands.
const (
	openingValue   = 4.0 // the first sentence: mostly the task
	closingValue   = 1.5 // the last sentence
	ruledValue     = 3.0 // the sentence demands or forbids something, or takes something back
	likedValue     = 2.0 // the sentence states a weaker rule
	soughtValue    = 2.0 // the sentence asks for something
	namingValue    = 0.5 // for each identifier, up to mostNaming or mostNamingCode
	mostNaming     = 4
	mostNamingCode = 8   // in a block of code
	earlyValue     = 0.5 // of the first portion, falling to 0 at the end, because a text begins with the most important
	emptyValue     = 0.1 // pleasantries
	codeValue      = 0.5 // a block of code
	shownShare     = 0.3 // factor in an example
	headValue      = 0.2 // a heading, which is kept with the text under it

	fullSentence = 40  // bytes of a sentence that says something; "Exit." says less
	sentenceCost = 60  // characters added to the length of a sentence when values are compared; without it, the shortest would win
	gapSize      = 2   // characters of the mark of a gap
	leastPieces  = 3   // a text with fewer sentences is cut in the middle
	openingShare = 0.5 // maximum share of the first sentence in the kept characters
)

// essence cuts a text to about keep characters. It drops the sentences that say the least
// for their length, and keeps the rest in their order and lines. essence writes note at the
// first gap.
func essence(s string, keep int, note string) string {
	if utf8.RuneCountInString(s) <= keep {
		return s
	}
	if !utf8.ValidString(s) {
		s = string([]rune(s))
	}
	all := cutTexts.of(s)
	if len(all) < leastPieces {
		return ends(s, keep*2/3, keep/3, note)
	}
	kept, first := choose(all, keep), openingOf(all)
	if all[first].size > int(float64(keep)*openingShare) { // a part of the first sentence is better than none
		clear(kept[:first+1])
		opening := strings.TrimSuffix(prose.Clip(s[all[first].from:all[first].to], int(float64(keep)*openingShare)), " …")
		if opening == "" {
			return ends(s, keep*2/3, keep/3, note)
		}
		return strings.TrimSpace(opening + joined(s, all, kept, note, true))
	}
	return strings.TrimSpace(joined(s, all, kept, note, false))
}

// A portion is a sentence, a line or a block of code of a text that is cut.
type portion struct {
	from, to int // place in the text, in bytes
	size     int // characters, with a space
	value    float64
	lead     int // index of the portion that leads to this one, -1 if there is none
	heading  bool
}

// openingOf returns the index of the first portion that is no heading, 0 if there is none.
func openingOf(all []portion) int {
	return max(slices.IndexFunc(all, func(p portion) bool { return !p.heading }), 0)
}

// portionsOf splits a text into its portions.
func portionsOf(s string) []portion {
	r := portioner{s: s, lead: -1, head: -1}
	for at := 0; at < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		r.line(at, end)
		at = end
	}
	if n := len(r.out); n > 0 {
		r.out[openingOf(r.out)].value += openingValue
		r.out[n-1].value += closingValue
		for i := range r.out {
			r.out[i].value += earlyValue * (1 - float64(i)/float64(n))
		}
	}
	return r.out
}

type portioner struct {
	s      string
	out    []portion
	lead   int // index of the sentence that leads to what follows, -1 if there is none
	head   int // index of the heading, -1 if there is none
	fenced bool
	gap    bool // an empty line precedes
	wraps  bool // the last sentence may continue in the next line
	shows  bool // under a heading of an example
}

func (r *portioner) line(from, to int) {
	line := strings.TrimSpace(r.s[from:to])
	fence := prose.FenceLine(line)
	switch {
	case r.fenced:
		last := &r.out[len(r.out)-1]
		last.size += utf8.RuneCountInString(r.s[last.to:to])
		last.to = from + len(strings.TrimRight(r.s[from:to], "\r\n"))
		if r.fenced = !fence; fence {
			last.value += r.worth(naming(r.s[last.from:last.to], mostNamingCode))
		}
		return
	case strings.Trim(line, "-=*_ ") == "":
		r.gap = true
		return
	case line[0] == '#', markupLine(line):
		r.heading(from, to, line)
		return
	}
	item := prose.ListItem(line)
	if r.gap && !item && len(r.out)-1 != r.lead {
		r.lead = -1
	}
	wrapped := r.wraps && !r.gap && !item && !fence && startsLower(line)
	r.gap, r.wraps = false, false
	if fence {
		r.fenced = true
		r.add(from, to, codeValue)
		r.lead = -1
		return
	}
	prose.SplitLine(r.s[from:to], func(t string) {
		start := from + strings.Index(r.s[from:to], t)
		from = start + len(t)
		r.sentence(start, from, item, wrapped)
		wrapped = false
	})
	r.wraps = len(r.out) > 0 && !endsText(line)
}

// sentence adds a sentence. wrapped means that it continues the last one.
func (r *portioner) sentence(from, to int, item, wrapped bool) {
	if wrapped {
		last := len(r.out) - 1
		from, r.out = r.out[last].from, r.out[:last]
	}
	t := r.s[from:to]
	r.add(from, to, r.valueOf(prose.Squash(t)))
	if strings.HasSuffix(t, ":") {
		r.lead = len(r.out) - 1
		r.out[r.lead].lead = r.head
	} else if !item && r.lead >= 0 && len(r.out)-1 > r.lead+1 {
		r.lead = -1
	}
}

func startsLower(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsLower(r)
}

// endsText reports whether a line ends with a mark that ends a sentence or leads on.
func endsText(line string) bool {
	r, _ := utf8.DecodeLastRuneInString(line)
	return strings.ContainsRune(".!?:;。！？：…>|", r)
}

// heading adds a heading. The opening tag of an element counts as a heading, too. A closing
// tag only ends the text under it.
func (r *portioner) heading(from, to int, line string) {
	r.lead, r.head, r.wraps, r.shows = -1, -1, false, false
	if strings.HasPrefix(line, "</") {
		return
	}
	r.shows = prose.HasAny(strings.ToLower(line), []string{"example", "beispiel", "示例"})
	r.add(from, to, headValue+naming(line, mostNaming))
	r.head = len(r.out) - 1
	r.out[r.head].heading = true
}

// markupLine reports whether a line is the beginning or the end of an element of markup.
func markupLine(line string) bool {
	return len(line) > 2 && line[0] == '<' && strings.IndexByte(line, '>') == len(line)-1 && (line[1] == '/' || prose.IsLetter(rune(line[1])))
}

func (r *portioner) add(from, to int, value float64) {
	text := strings.TrimSpace(r.s[from:to])
	from += strings.Index(r.s[from:to], text)
	p := portion{from: from, to: from + len(text), size: utf8.RuneCountInString(text) + 1, value: value, lead: r.lead}
	if r.lead < 0 {
		p.lead = r.head
	} else {
		p.value = max(p.value, min(r.out[r.lead].value, ruledValue)) // an item of "Never do one of these:"
	}
	p.value = r.worth(p.value)
	r.out = append(r.out, p)
}

// worth returns a value, reduced if the current place is in an example.
func (r *portioner) worth(value float64) float64 {
	if r.shows {
		return value * shownShare
	}
	return value
}

// valueOf returns the value of a sentence by what it says.
func (r *portioner) valueOf(t string) float64 {
	if onlyPolite(t) {
		return emptyValue
	}
	v := min(1, float64(len(t))/fullSentence)
	plain := strings.TrimLeft(t, "-*• ")
	if lead, ok := strings.CutSuffix(plain, ":"); ok { // what follows is the rule
		plain = lead + "."
	}
	switch binds := rules.Binds(plain); {
	case binds >= rules.BindValue, rules.TurnsBack(t), strings.HasSuffix(t, ":") && prose.HasAnyWord(strings.ToLower(t), exactWords):
		v = ruledValue
	case binds > 0:
		v = likedValue
	}
	if asks(t) || strings.HasSuffix(t, "?") || rules.Instructs(t) {
		v = max(v, soughtValue)
	}
	return v + naming(t, mostNaming)
}

// exactWords are words of sentences that introduce a text to be used unchanged.
var exactWords = []string{"exact", "exactly", "verbatim", "word for word", "genau", "exactement", "exactamente"}

// naming returns the value of the identifiers in a text. most limits the number that
// counts.
func naming(t string, most int) float64 {
	n := 0
	identifiers(t, func(ident.Kind, string) { n++ })
	return namingValue * float64(min(n, most))
}

// choose returns the portions that fit keep characters: those with the highest value for
// their length, each with the portion that leads to it.
func choose(all []portion, keep int) []bool {
	kept := make([]bool, len(all))
	if first := &all[openingOf(all)]; first.size > int(float64(keep)*openingShare) {
		keep -= int(float64(keep) * openingShare)
	}
	best := make([]int, len(all))
	for i := range best {
		best[i] = i
	}
	density := func(i int) float64 { return all[i].value / float64(all[i].size+sentenceCost) }
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(density(b), density(a)) })
	for _, i := range best {
		if all[i].heading {
			continue // it is only taken with the text that it leads to
		}
		need := 0
		for k := i; k >= 0 && !kept[k]; k = all[k].lead {
			if need += all[k].size; (k == 0 || !kept[k-1]) && (k+1 == len(all) || !kept[k+1]) {
				need += gapSize
			}
		}
		if need > keep {
			continue
		}
		keep -= need
		for k := i; k >= 0 && !kept[k]; k = all[k].lead {
			kept[k] = true
		}
	}
	return kept
}

// joined returns the kept portions of a text. A mark replaces missing portions: note in the
// first gap, "…" in the others. cut means that a gap precedes the first portion.
func joined(s string, all []portion, kept []bool, note string, cut bool) string {
	var b strings.Builder
	mark, at, missing := note, 0, cut
	for i, p := range all {
		if !kept[i] {
			missing = true
			continue
		}
		between := s[at:p.from]
		if missing {
			if b.WriteString(" " + mark); strings.Contains(between, "\n") {
				b.WriteString("\n")
			} else {
				b.WriteString(" ")
			}
			mark, missing = "…", false
		} else {
			b.WriteString(between)
		}
		b.WriteString(s[p.from:p.to])
		at = p.to
	}
	if missing {
		b.WriteString(" " + mark)
	}
	return b.String()
}
