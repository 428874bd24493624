package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// pages reduces an HTML page to its headings and its text, without tags, scripts,
// styles and navigation.
func pages(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	if from >= to || r.asked.file != "" || d.changed() || !isHTML(d.text[d.lines[from].from:d.lines[to-1].to]) {
		return pass
	}
	from = d.page(from, to)
	p := page{text: d.text, at: d.lines[from].from, end: d.lines[to-1].to, lines: d.lent.lines(len(d.lines)), pieces: pieces{lent: d.lent}}
	p.read()
	if len(p.lines) == 0 {
		return pass
	}
	lines := append(d.lent.lines(len(p.lines)+len(d.lines)-to+from), d.lines[:from]...)
	lines = append(lines, p.lines...)
	d.lines = append(lines, d.lines[to:]...)
	d.total = len(d.lines) // gaps count lines of the text, not of the HTML source
	if d.size() <= room || !d.outlineText(r, room, false, "headings and text of a page") {
		d.leftOut("text of a page without its tags")
	}
	return did
}

// page returns the line where a page begins. The lines before it, for example the header
// of the answer, stay.
func (d *draft) page(from, to int) int {
	for i := from; i < to; i++ {
		text := unindented(d.lines[i].text)
		if len(text) > 1 && text[0] == '<' && !space(text[1]) {
			return i
		}
	}
	return from
}

// changed reports whether any line differs from the result.
func (d *draft) changed() bool {
	for i := range d.lines {
		if d.lines[i].segs != nil || d.lines[i].no == 0 {
			return true
		}
	}
	return false
}

func isHTML(s string) bool {
	head := s[:min(len(s), 4000)]
	for {
		at := strings.IndexByte(head, '<')
		if at < 0 {
			return false
		}
		head = head[at+1:]
		if hasPrefixFold(head, "html") || hasPrefixFold(head, "!doctype html") || hasPrefixFold(head, "body") {
			return true
		}
	}
}

// hasPrefixFold reports whether a text begins with a word, ignoring case.
func hasPrefixFold(s, word string) bool {
	return len(s) >= len(word) && strings.EqualFold(s[:len(word)], word)
}

// isSilent reports whether the content of an element is left out.
func isSilent(name string) bool {
	switch name {
	case "script", "style", "svg", "nav", "footer", "noscript", "template", "iframe", "form", "button", "select":
		return true
	}
	return false
}

// A page is the state of an HTML reader.
type page struct {
	text    string
	at, end int
	lines   []line
	pieces  pieces
	segs    []policy.Segment // segments of the current line
	apart   bool             // white space followed its last word
	heading int
}

func (p *page) read() {
	for p.at < p.end {
		open := strings.IndexByte(p.text[p.at:p.end], '<')
		if open < 0 {
			p.words(p.at, p.end)
			break
		}
		p.words(p.at, p.at+open)
		p.at += open
		p.tag()
	}
	p.flush()
}

// tag skips a tag, and the whole element if it is silent.
func (p *page) tag() {
	if strings.HasPrefix(p.text[p.at:p.end], "<!--") {
		p.at = p.behind("-->")
		return
	}
	shut := strings.IndexByte(p.text[p.at:p.end], '>')
	if shut < 0 {
		p.at = p.end
		return
	}
	name := tagName(p.text[p.at+1 : p.at+shut])
	p.at += shut + 1
	switch {
	case isSilent(name):
		p.at = p.behind("</" + name)
	case len(name) == 2 && name[0] == 'h' && isDigit(name[1]):
		p.flush()
		p.heading = int(name[1] - '0')
	case strings.HasPrefix(name, "/h") && len(name) == 3 && isDigit(name[2]), !inline(name):
		p.flush()
	}
}

// behind returns the position after the next occurrence of mark and the ">" that closes it.
// mark is the beginning of an end tag or the end of a comment.
func (p *page) behind(mark string) int {
	for i := p.at; i+len(mark) <= p.end; i++ {
		n := strings.IndexByte(p.text[i:p.end], mark[0])
		if n < 0 || i+n+len(mark) > p.end {
			break
		}
		if i += n; strings.EqualFold(p.text[i:i+len(mark)], mark) {
			if shut := strings.IndexByte(p.text[i:p.end], '>'); shut >= 0 {
				return i + shut + 1
			}
			break
		}
	}
	return p.end
}

func tagName(tag string) string {
	end := 0
	for end < len(tag) && !space(tag[end]) {
		end++
	}
	return strings.ToLower(strings.TrimSuffix(tag[:end], "/"))
}

// inline reports whether a tag does not end a line.
func inline(name string) bool {
	switch strings.TrimPrefix(name, "/") {
	case "a", "b", "i", "em", "strong", "span", "code", "small", "sub", "sup", "u", "mark", "abbr", "time", "label", "kbd", "font", "img", "q", "cite":
		return true
	}
	return false
}

// words adds the words of a text to the current line, separated by one space.
func (p *page) words(from, to int) {
	for i := from; i < to; {
		for i < to && space(p.text[i]) {
			p.apart = true
			i++
		}
		start := i
		for i < to && !space(p.text[i]) {
			i++
		}
		if i == start {
			continue
		}
		if n := len(p.segs); n == 0 && p.heading > 0 {
			p.segs = append(p.segs, policy.Segment{Lit: hashes[len(hashes)-1-p.heading:]})
		} else if n > 0 && p.apart {
			if last := &p.segs[n-1]; last.Lit == "" && last.To == start-1 && p.text[start-1] == ' ' {
				last.To, p.apart = i, false
				continue
			}
			p.segs = append(p.segs, policy.Segment{Lit: " "})
		}
		p.apart = false
		p.segs = append(p.segs, policy.Segment{From: start, To: i})
	}
}

// hashes is the longest mark of a heading.
const hashes = "######### "

func space(c byte) bool { return isSpace[c] }

var isSpace = [256]bool{' ': true, '\t': true, '\n': true, '\r': true}

// flush ends the current line.
func (p *page) flush() {
	if len(p.segs) > 0 {
		p.pieces.begin()
		for _, s := range p.segs {
			p.pieces.add(p.text, s)
		}
		segs, text := p.pieces.end()
		p.lines = append(p.lines, line{no: len(p.lines) + 1, text: text, segs: segs})
	}
	p.segs, p.apart, p.heading = p.segs[:0], false, 0
}
