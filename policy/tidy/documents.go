package tidy

import (
	"path"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// documents reduces a text with headings to its headings, the lines right below
// them, the lines that the call or the task names, and as many other lines as
// there is room for.
func documents(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	numbered := d.numbered(from, to)
	if r.asked.isSetting() {
		return pass
	}
	headings, blank := 0, true
	for i := from; i < to; i++ {
		text := unnumbered(d.lines[i].text, numbered)
		// A comment also begins with one #, but seldom follows a blank line.
		if isHeading(text) && (blank || text[1] == '#') {
			headings++
		}
		blank = text == ""
	}
	if headings < 3 && !r.asked.isDocument() {
		return pass
	}
	return done(d.outlineText(r, room, numbered, "headings and text"))
}

// isDocument reports whether the call reads a file of text with headings.
func (a *asked) isDocument() bool {
	switch a.ext() {
	case "md", "mdx", "rst":
		return true
	}
	return false
}

// isSetting reports whether the call reads a file of settings, data or markup. In such a
// file a # does not begin a heading, and a line with an error does not report a failure.
func (a *asked) isSetting() bool {
	switch a.ext() {
	case "yaml", "yml", "toml", "ini", "cfg", "conf", "env", "properties", "mk", "csv", "tsv", "json", "xml", "html", "htm", "svg":
		return true
	}
	base := path.Base(a.file)
	return strings.HasPrefix(base, "Makefile") || strings.HasPrefix(base, "Dockerfile")
}

// outlineText reduces a text with headings. how describes the kept parts. It returns
// false if it changed nothing.
func (d *draft) outlineText(r *Result, room int, numbered bool, how string) bool {
	urls := d.shortenURLs()
	c := newChoice(d)
	from, to := d.inner()
	below := 0 // lines since the last heading
	for i := from; i < to; i++ {
		text := unnumbered(d.lines[i].text, numbered)
		switch {
		case isHeading(text):
			c.raise(i, best)
			below = 0
		case isNavigation(text):
			c.raise(i, drop)
		case strings.TrimSpace(text) != "":
			if below++; below <= 2 {
				c.raise(i, some)
			} else {
				c.raise(i, fill)
			}
		}
	}
	c.named(r, good)
	out := c.take(room)
	if out == 0 && urls > 0 {
		d.leftOut(counts(urls, "line") + " with long URLs cut")
		return true
	}
	return d.shown(how, out)
}

func isHeading(text string) bool {
	n := 0
	for n < len(text) && text[n] == '#' {
		n++
	}
	return n > 0 && n <= 6 && n < len(text) && text[n] == ' '
}

// isNavigation reports whether a line consists of one or more links only.
func isNavigation(text string) bool {
	if text == "" || isLetter(text[0]) {
		return false
	}
	text = strings.TrimLeft(text, " \t*-+|•")
	if !strings.HasPrefix(text, "[") {
		return false
	}
	links := strings.Count(text, "](")
	rest := 0
	for text != "" {
		open := strings.IndexByte(text, '[')
		if open < 0 {
			rest += len(text)
			break
		}
		end := strings.Index(text[open:], "](")
		if end < 0 {
			rest += len(text)
			break
		}
		rest += open
		close := strings.IndexByte(text[open+end:], ')')
		if close < 0 {
			break
		}
		text = text[open+end+close+1:]
	}
	return links > 0 && rest <= 4*links
}

// urlMost is the largest length in bytes of the query of a URL. A longer query counts as
// a signature.
const urlMost = 100

// shortenURLs cuts the long queries of URLs, which are signatures, and the
// content of data URLs. It returns the number of lines that it changed.
func (d *draft) shortenURLs() (n int) {
	for i := range d.lines {
		l := d.lines[i]
		if len(l.text) < urlMost || l.segs != nil || !strings.Contains(l.text, ":") {
			continue
		}
		if segs := shortened(d.text, l.from, l.to); segs != nil {
			if n == 0 { // other drafts share the original list
				d.lines = append(d.lent.lines(len(d.lines)), d.lines...)
			}
			d.lines[i] = l.rewritten(d.text, segs...)
			n++
		}
	}
	return n
}

func shortened(text string, from, to int) (segs []policy.Segment) {
	at, stop := from, from // stop: end of the URL, or start of its query
	for i := from; i < to; {
		begin := -1 // start of the part to cut
		switch {
		case strings.HasPrefix(text[i:to], "data:") && strings.Contains(text[i:min(to, i+60)], ","):
			begin = i + strings.IndexByte(text[i:to], ',') + 1
		case strings.HasPrefix(text[i:to], "http"):
			for stop = max(stop, i); stop < to && !strings.ContainsRune("? \t\"'()<>", rune(text[stop])); {
				stop++
			}
			if stop < to && text[stop] == '?' {
				begin = stop + 1
			}
		}
		if begin < 0 {
			i++
			continue
		}
		end := begin
		for end < to && !strings.ContainsRune(" \t\"'()<>", rune(text[end])) {
			end++
		}
		if end-begin > urlMost {
			segs = append(segs, policy.Segment{From: at, To: begin}, policy.Segment{Lit: "…"})
			at = end
		}
		i = max(end, i+1)
	}
	if segs == nil {
		return nil
	}
	return append(segs, policy.Segment{From: at, To: to})
}
