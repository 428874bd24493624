package strategy

import (
	"cmp"
	"slices"
	"strings"
)

// document arranges the chosen lines.
func (c *composer) document() Document {
	slices.SortStableFunc(c.chosen, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Order, b.Order), cmp.Compare(a.nth, b.nth))
	})
	d := Document{Sections: make([][]string, len(c.spent))}
	shared := map[groupKey]*sharedBullet{}
	var order []*sharedBullet
	for _, k := range c.chosen {
		s := &d.Sections[k.Section]
		if k.Group == "" {
			*s = append(*s, k.Text)
			continue
		}
		key := groupKey{k.Section, k.Group}
		b := shared[key]
		if b == nil {
			b = &sharedBullet{section: k.Section, index: len(*s), told: map[groupKey]bool{}}
			shared[key], order = b, append(order, b)
			*s = append(*s, "")
		}
		b.add(k)
	}
	for _, b := range order {
		d.Sections[b.section][b.index] = b.end()
	}
	d.mark(c.base)
	return d
}

// A sharedBullet is a bullet of several lines.
type sharedBullet struct {
	section, index int
	text           string
	last           *candidate
	lines          int
	told           map[groupKey]bool // texts before list lines, if the bullet already contains them
}

// add appends a line. Before the line it adds the texts that introduce the line's list and
// item, and a mark if lines before it were left out.
func (b *sharedBullet) add(k *candidate) {
	switch {
	case b.last == nil:
		b.text = k.Group + ":"
		if k.place.inList() && k.place.seq > 1 || k.inside {
			b.text += " …"
		}
	case !k.place.follows(b.last.place, k.nth > b.last.nth+1):
		b.text += " …"
	case closed(b.text):
	case b.last.place.inList() && b.last.place.ends():
		b.text += "."
	default:
		b.text += ";" // items of a list
	}
	for name, text := range k.preceding() {
		if !b.told[name] {
			b.told[name] = true
			if len(text) >= leastTold && strings.Contains(b.text, text) {
				continue // the bullet has this sentence already
			}
			b.text = strings.TrimRight(b.text+" "+text, " ")
		}
	}
	if k.member != "" && (b.last == nil || b.last.member != k.member && !strings.HasPrefix(b.last.Text, k.member+": ")) {
		b.text += " " + k.member + ":"
	}
	b.text += " " + k.Text
	b.last = k
	b.lines++
	if k.place.inList() && k.place.head == "" {
		path := strings.Join(append([]string{k.Group}, k.place.leads...), "\x00") // as in preceding
		b.told[groupKey{k.Section, path + "\x00" + parentText(k.place.mark, k.Text)}] = true
	}
}

// end returns the bullet, with a mark if items of the last list were left out.
func (b *sharedBullet) end() string {
	if !b.last.place.ends() {
		return b.text + " …"
	}
	text, cut := b.text, false
	if strings.Contains(b.last.Group, returnedMark) {
		text, cut = strings.CutSuffix(b.text, pieceEnd)
	}
	if cut {
		text = strings.TrimSuffix(text, " …") + " …"
	}
	if b.lines < b.last.of {
		text += " (" + itoa(b.last.of) + " items in all)"
	}
	return text
}
