package strategy

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/ident"
)

// A composer chooses lines for a summary: those that say most per token,
// where an identifier counts once, in the first line that brings it.
type composer struct {
	strategy Strategy
	history  *History
	index    *Index
	limit    int // tokens
	count    func(string) int

	base string // folder that a mark stands for in paths

	covered map[*Entity]bool
	told    map[uint32]bool // words of the lines that were taken
	groups  map[groupKey]bool
	titles  []bool
	chosen  []*candidate
	spent   []int // tokens by section
	used    int
}

type groupKey struct {
	section int
	name    string
}

// A candidate is a line on its way into a summary.
type candidate struct {
	Line
	place    int // among the lines that were offered
	cost     int
	entities []*Entity
	words    []uint32
	quotes   bool    // lines of a text for the names in them
	gain     float64 // per token when it was last looked at
}

func newComposer(s Strategy, h *History, limit int, count func(string) int) *composer {
	n := max(len(s.Sections), 1)
	return &composer{strategy: s, history: h, index: h.Index, base: h.base, limit: limit, count: count, covered: map[*Entity]bool{}, told: map[uint32]bool{},
		groups: map[groupKey]bool{}, titles: make([]bool, n), spent: make([]int, n)}
}

// compose returns a document of at most limit tokens.
func (c *composer) compose(lines []Line) Document {
	all := c.candidates(lines)
	c.hear()
	room := c.limit - int(float64(c.limit)*quotedShare*c.scarcity())
	c.essentials(all, room)
	c.refill(all, room, true)
	untold := func(e *Entity) bool { return !c.covered[e] }
	quoted := c.candidates(c.history.quotedLines(c.strategy.seenSection(), maxSeen, untold))
	c.refill(quoted, min(c.limit, c.used+int(float64(c.limit)*quotedShare)), false)
	c.refill(all, c.limit, false)
	c.refill(c.candidates(c.history.readLines(c.strategy.seenSection())), c.limit, false)
	c.refill(c.candidates(c.history.excerptLines(c.strategy.excerptSection())), c.limit, false)
	c.refill(quoted, c.limit, false)
	c.trim()
	return fit(c.document(), c.strategy, c.limit, c.count)
}

// trim takes back what is worth least until the document fits: lines cost more
// together than one by one.
func (c *composer) trim() {
	for len(c.chosen) > 1 && c.count(c.document().Render(c.strategy)) > c.limit {
		least := 0
		for i, k := range c.chosen {
			if k.Value < c.chosen[least].Value {
				least = i
			}
		}
		c.chosen = slices.Delete(c.chosen, least, least+1)
	}
}

// refills is how often a summary is measured and filled up again: what its
// lines cost one by one is not what they cost together.
const refills = 4

// refill fills until nothing more fits.
func (c *composer) refill(all []*candidate, room int, shares bool) {
	for range refills {
		before := len(c.chosen)
		if shares {
			c.fill(all, room, true)
		}
		c.fill(all, room, false)
		if c.used = c.count(c.document().Render(c.strategy)); len(c.chosen) == before {
			return
		}
	}
}

// essentials takes what each section says first and foremost, whatever it
// names: the best line, and more as long as that leaves half of the section's
// share.
func (c *composer) essentials(all []*candidate, room int) {
	best := slices.Clone(all)
	slices.SortStableFunc(best, func(a, b *candidate) int { return cmp.Compare(b.Value, a.Value) })
	for _, k := range best {
		share := c.share(k.Section)
		switch {
		case k.Value >= failedValue:
			share = room
		case k.Order < 0: // carried: what summary 1 said, summary 7 still says
		case c.spent[k.Section] > 0:
			share /= 2
		}
		if k.Value >= essential && c.spent[k.Section]+k.cost+c.overhead(k) <= share {
			c.take(k, room, k.Value < failedValue)
		}
	}
}

// essential is the least value of a line that is taken whatever it names.
const essential = 0.3

// scarcity is how much of the references' share is worth reserving: little
// where a history names little.
func (c *composer) scarcity() float64 { return min(1, float64(c.index.Len())/150) }

func (c *composer) candidates(lines []Line) []*candidate {
	seen := map[string]*candidate{}
	out := make([]*candidate, 0, len(lines))
	for i, l := range lines {
		l.Text = shortPaths(squash(neutral(l.Text)), c.base)
		key := itemKey(l.Text)
		if l.Text == "" || l.Section < 0 || l.Section >= len(c.spent) {
			continue
		}
		if same := seen[key]; same != nil {
			same.Value = max(same.Value, l.Value) // it is told once, for what it is worth to either
			continue
		}
		k := &candidate{Line: l, place: i, quotes: sawNames(l.Text), words: wordHashes(l.Text)}
		seen[key] = k
		if l.Group == "" {
			k.cost = c.count("- " + l.Text + "\n")
		} else {
			k.cost = c.count(" " + l.Text)
		}
		identifiers(longPaths(l.Text, c.base), func(_ ident.Kind, s string) {
			if e := c.index.Lookup(s); e != nil {
				k.entities = append(k.entities, e)
			}
		})
		for _, name := range l.Names {
			if e := c.index.Lookup(name); e != nil {
				k.entities = append(k.entities, e)
			}
		}
		out = append(out, k)
	}
	return out
}

// worth is what a line adds, per token.
func (c *composer) worth(k *candidate) float64 {
	g := k.Value
	if g < taskValue {
		g *= sayingValue * c.novelty(k)
	}
	for i, e := range k.entities {
		if !c.covered[e] && !slices.Contains(k.entities[:i], e) {
			switch {
			case k.quotes:
				g += quotedName * e.Score
			default:
				g += e.Score
			}
		}
	}
	n := k.cost + c.overhead(k) + 1
	if k.Group != "" && c.groups[groupKey{k.Section, k.Group}] {
		n += together
	} else {
		n += evenness
	}
	return g / float64(n)
}

// quotedName is what a name is worth in a line that is quoted for it, beside one
// in a sentence that says something of it.
const quotedName = 0.7

// sayingValue is what saying something is worth beside naming something. More
// of it gives more sentences and fewer names.
const sayingValue = 0.5

// evenness is added to what a sentence costs when it is compared with others,
// in tokens: without it the shortest would always win.
const evenness = 40

// together stands in its place for a sentence that goes on where others of its
// message are told: half a report says less than a whole one.
const together = 15

// overhead is what a line costs beside itself: the heading, the group's title.
func (c *composer) overhead(k *candidate) int {
	n := 0
	if !c.titles[k.Section] {
		n += 3 + c.count(c.strategy.Sections[k.Section].Title)
	}
	if k.Group != "" && !c.groups[groupKey{k.Section, k.Group}] {
		n += 3 + c.count(k.Group)
	}
	return n
}

// fill takes the best lines until room tokens are used. With shares, no
// section takes more than its own.
func (c *composer) fill(all []*candidate, room int, shares bool) {
	q := make(queue, 0, len(all))
	for _, k := range all {
		if k.cost >= 0 {
			k.gain = c.worth(k)
			q = append(q, k)
		}
	}
	heap.Init(&q)
	for q.Len() > 0 {
		k := q[0]
		if g := c.worth(k); g < k.gain-1e-12 {
			k.gain = g
			heap.Fix(&q, 0)
			continue
		}
		heap.Pop(&q)
		c.take(k, room, shares)
	}
}

// take adds a line if it fits.
func (c *composer) take(k *candidate, room int, shares bool) {
	need := k.cost + c.overhead(k)
	if c.said(k) {
		return
	}
	if c.used+need > room || shares && c.spent[k.Section]+need > c.share(k.Section) {
		return
	}
	c.used += need
	c.spent[k.Section] += need
	c.titles[k.Section] = true
	if k.Group != "" {
		c.groups[groupKey{k.Section, k.Group}] = true
	}
	for _, e := range k.entities {
		c.covered[e] = true
	}
	for _, w := range k.words {
		c.told[w] = true
	}
	c.chosen = append(c.chosen, k)
	k.cost = -1
}

// said reports whether a line that was taken says the same.
func (c *composer) said(k *candidate) bool {
	core := coreOf(k.Text)
	for _, o := range c.chosen {
		if strings.Contains(o.Text, core) {
			return true
		}
	}
	return false
}

// coreOf is a line without its marks: status, number, citation.
func coreOf(s string) string {
	if i := strings.LastIndex(s, " [s"); i > 0 {
		s = s[:i]
	}
	for strings.HasPrefix(s, "[") {
		_, rest, ok := strings.Cut(s, "] ")
		if !ok {
			break
		}
		s = rest
	}
	s, _, _ = strings.Cut(s, " (do not repeat)")
	return strings.TrimSuffix(s, " …")
}

// leastShare is what every section may take, in tokens, however small its
// share of a small limit.
const leastShare = 70

// share is what a section may take while others have something to say.
func (c *composer) share(section int) int {
	share := c.strategy.Sections[section].Share
	if share == 0 {
		return c.limit
	}
	return max(int(share*float64(c.limit)), min(leastShare, c.limit/4))
}

// document arranges the chosen lines.
func (c *composer) document() Document {
	slices.SortStableFunc(c.chosen, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Section, b.Section), cmp.Compare(a.Order, b.Order), cmp.Compare(a.place, b.place))
	})
	d := Document{Sections: make([][]string, len(c.spent))}
	where, after := map[groupKey]int{}, map[groupKey]int{}
	for _, k := range c.chosen {
		s := &d.Sections[k.Section]
		if k.Group == "" {
			*s = append(*s, k.Text)
			continue
		}
		key := groupKey{k.Section, k.Group}
		if i, ok := where[key]; ok {
			if k.place > after[key]+1 {
				(*s)[i] += " …"
			} else if !closed((*s)[i]) {
				(*s)[i] += ";" // items of a list
			}
			(*s)[i] += " " + k.Text
			after[key] = k.place
			continue
		}
		where[key], after[key] = len(*s), k.place
		*s = append(*s, k.Group+": "+k.Text)
	}
	d.mark(c.base)
	return d
}

// closed reports whether a sentence has its end: what stands behind it does not
// run into it.
func closed(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"'`”’»)]*_"))
	return strings.ContainsRune(".!?:;,…。！？：；，、—", last)
}

// neutral takes the meaning from a line that would read as our own tags or as
// a heading.
func neutral(s string) string {
	s = neutralText(s)
	if strings.HasPrefix(s, "#") {
		s = strings.TrimLeft(s, "# ")
	}
	return s
}

// queue is a heap of candidates, the most gain first.
type queue []*candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].gain != q[j].gain {
		return q[i].gain > q[j].gain
	}
	return q[i].place < q[j].place
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*candidate)) }
func (q *queue) Pop() any {
	old := *q
	k := old[len(old)-1]
	*q = old[:len(old)-1]
	return k
}
