package strategy

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A composer chooses the lines of a summary by their value per token. An
// identifier counts only in the first line that names it.
type composer struct {
	strategy Strategy
	history  *History
	index    *nameIndex
	limit    int // tokens
	count    func(string) int

	base string // folder that a mark abbreviates in paths

	covered map[*entity]bool
	told    map[uint32]bool // words of the chosen lines
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

// A candidate is a line that may become a part of a summary.
type candidate struct {
	Line
	nth      int // index among the offered lines
	cost     int
	entities []*entity
	words    []uint32
	quotes   bool    // the line is quoted because of the names in it
	gain     float64 // result of the last call of worth
}

func newComposer(s Strategy, h *History, limit int, count func(string) int) *composer {
	n := max(len(s.Sections), 1)
	return &composer{strategy: s, history: h, index: h.index, base: h.base, limit: limit, count: count, covered: map[*entity]bool{}, told: map[uint32]bool{},
		groups: map[groupKey]bool{}, titles: make([]bool, n), spent: make([]int, n)}
}

// compose returns a document of at most limit tokens.
func (c *composer) compose(lines []Line) Document {
	all := c.candidates(lines)
	c.hear()
	room := c.limit - int(float64(c.limit)*quotedShare*c.scarcity())
	c.essentials(all, room)
	c.refill(all, room, true)
	untold := func(e *entity) bool { return !c.covered[e] }
	quoted := c.candidates(c.history.quotedLines(c.strategy.seenSection(), maxSeen, untold))
	c.refill(quoted, min(c.limit, c.used+int(float64(c.limit)*quotedShare)), false)
	c.refill(all, c.limit, false)
	c.refill(c.naming(c.candidates(c.history.outlineLines(c.strategy.seenSection()))), c.limit, false)
	c.refill(c.naming(c.candidates(c.history.readLines(c.strategy.seenSection()))), c.limit, false)
	c.refill(c.naming(c.candidates(c.history.excerptLines(c.strategy.excerptSection()))), c.limit, false)
	c.refill(quoted, c.limit, false)
	c.trim()
	return fit(c.document(), c.strategy, c.limit, c.count)
}

// trim removes the least valuable lines until the document fits. Lines can cost
// more together than the sum of their costs.
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

// refills is the maximum number of rounds in which a summary is measured and
// filled up. The sum of the lines' costs is not the cost of the document.
const refills = 4

// refill fills until nothing more fits, at most refills times.
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

// essentials takes the most valuable lines of each section, regardless of the names in
// them: the first line, and more while they use at most half of the section's share.
func (c *composer) essentials(all []*candidate, room int) {
	best := slices.Clone(all)
	slices.SortStableFunc(best, func(a, b *candidate) int { return cmp.Compare(b.Value, a.Value) })
	reserved := c.reserves(best)
	for _, k := range best {
		share, need := c.share(k.Section), k.cost+c.overhead(k)
		switch {
		case k.Value >= failedValue:
			share = room
		case k.Order < 0: // a carried line may use the whole share, so that text of the first summary reaches the seventh
		case c.spent[k.Section] > 0:
			share /= 2
		}
		if k.Value < taskValue && c.used+need > room-c.unspent(reserved, k.Section) {
			continue
		}
		if k.Value >= essential && c.spent[k.Section]+need <= share {
			c.take(k, room, k.Value < failedValue)
		}
	}
}

// reserves returns the tokens that are reserved for each section. The essential lines of
// other sections must not use them. A strategy's own section gets up to a quarter of its
// share if it has essential lines. Without the reserve, many failures could push all
// decisions out of a decision log.
func (c *composer) reserves(all []*candidate) []int {
	out := make([]int, len(c.spent))
	own := len(c.strategy.Sections) - len(commonSections)
	for _, k := range all {
		if k.Section < own && k.Value >= essential && k.Value < failedValue {
			if out[k.Section] == 0 {
				out[k.Section] = c.overhead(k)
			}
			out[k.Section] = min(out[k.Section]+k.cost, c.share(k.Section)/4)
		}
	}
	return out
}

// unspent returns the reserved tokens that have not been spent, in all sections except
// the one with the index but.
func (c *composer) unspent(reserved []int, but int) int {
	n := 0
	for i := range reserved {
		if i != but {
			n += max(0, reserved[i]-c.spent[i])
		}
	}
	return n
}

// essential is the lowest value of a line that is taken regardless of the names in it.
const essential = 0.3

// scarcity returns the fraction of the quoted lines' share that is reserved. It is below
// 1 if a history names few identifiers.
func (c *composer) scarcity() float64 { return min(1, float64(c.index.Len())/150) }

func (c *composer) candidates(lines []Line) []*candidate {
	seen := map[string]*candidate{}
	out := make([]*candidate, 0, len(lines))
	for i, l := range lines {
		l.Text = shortPaths(prose.Squash(neutral(l.Text)), c.base)
		key := l.place.key() + itemKey(l.Text)
		if l.Text == "" || l.Section < 0 || l.Section >= len(c.spent) {
			continue
		}
		if same := seen[key]; same != nil {
			same.Value = max(same.Value, l.Value) // keep one line, with the higher value
			continue
		}
		k := &candidate{Line: l, nth: i, quotes: sawNames(l.Text), words: wordHashes(l.Text)}
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
		for _, name := range slices.Concat(l.Names, l.place.names()) {
			if e := c.index.Lookup(name); e != nil {
				k.entities = append(k.entities, e)
			}
		}
		out = append(out, k)
	}
	return out
}

// worth returns the value per token that a line adds.
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
	n := k.cost + c.overhead(k) - c.unshared(k) + 1
	if k.Group != "" && c.groups[groupKey{k.Section, k.Group}] {
		n += together
	} else {
		n += evenness
	}
	return g / float64(n)
}

// quotedName weighs the score of a name in a quoted line, compared with 1 for a
// name in a sentence about it.
const quotedName = 0.7

// sayingValue weighs the value of a line against the scores of its names. A
// higher weight gives more sentences and fewer names.
const sayingValue = 0.5

// evenness is the number of tokens added to a sentence's cost when sentences
// are compared. Without it the shortest one always wins.
const evenness = 40

// together replaces evenness for a sentence if its group already has a chosen one, because
// half a report states less than a whole report.
const together = 15

// overhead returns the tokens that a line costs besides its text: the heading of its
// section, the title of its group and the text before it in a list, unless the summary
// already has them.
func (c *composer) overhead(k *candidate) int {
	n := 0
	if !c.titles[k.Section] {
		n += 3 + c.count(c.strategy.Sections[k.Section].Title)
	}
	if k.Group != "" && !c.groups[groupKey{k.Section, k.Group}] {
		n += 3 + c.count(k.Group)
	}
	return n + c.unshared(k)
}

// unshared returns the tokens of the texts that must precede a line of a list and that the
// summary does not have yet. These tokens are a cost of the whole list, so a comparison of
// lines leaves them out.
func (c *composer) unshared(k *candidate) int {
	n := 0
	for name, text := range k.preceding() {
		if text != "" && !c.groups[name] {
			n += 1 + c.count(text)
		}
	}
	return n
}

// fill takes the best lines until room tokens are used. With shares, no section
// exceeds its share.
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
	if c.said(k) || c.idle(k) {
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
	for name := range k.preceding() {
		c.groups[name] = true
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

// idle reports whether a line about an edit or a look adds nothing to the chosen lines: no
// name, and hardly a word. Another line tells the state of the file.
func (c *composer) idle(k *candidate) bool {
	return k.routine && c.novelty(k) < leastFresh && !slices.ContainsFunc(k.entities, func(e *entity) bool { return !c.covered[e] })
}

// naming returns the lines with a name that no chosen line has. An excerpt without such a
// name only fills the room.
func (c *composer) naming(all []*candidate) []*candidate {
	return slices.DeleteFunc(all, func(k *candidate) bool {
		return !slices.ContainsFunc(k.entities, func(e *entity) bool { return !c.covered[e] })
	})
}

// leastFresh is the least novelty of a line without a new name.
const leastFresh = 0.45

// said reports whether a chosen line contains the text of k. If the chosen line is about
// the next steps, lines of other sections are not dropped for it: a later summary drops
// the next steps, and the other line must stay. A rule is not dropped for a request,
// because the list of rules must be complete.
func (c *composer) said(k *candidate) bool {
	core := coreOf(k.Text)
	if st, _, ok := statusOf(k.Text); ok && st != itemDone {
		core = k.Text // no other line has the status, not even a request that has the same words
	}
	next, _ := c.strategy.section(headingComing)
	rules, ruled := c.strategy.section("Constraints")
	for _, o := range c.chosen {
		if o.Section == next && k.Section != next && k.Group == "" || ruled && k.Section == rules && prose.BeginsAny(o.Text, []string{newestRequest, firstRequest}) {
			continue
		}
		if o.Text == k.Text && o.Group != "" && o.Section == k.Section && o.Group == k.Group && len(core) >= leastTold {
			return true // not twice in one bullet, even with different leads
		}
		if strings.Contains(o.Text, core) && !k.place.apart(o.place, core) {
			return true
		}
	}
	return false
}

// coreOf returns a line without its status, number, citation, and the words before a
// conclusion.
func coreOf(s string) string {
	if i := strings.LastIndex(s, " [s"); i > 0 {
		s = s[:i]
	}
	if strings.HasPrefix(s, "[s") { // an entry of the log, with the purpose of its call
		s, _, _ = strings.Cut(s, beforeIt)
	}
	for strings.HasPrefix(s, "[") {
		_, rest, ok := strings.Cut(s, "] ")
		if !ok {
			break
		}
		s = rest
	}
	s = strings.TrimPrefix(s, concluded)
	for _, note := range effectNotes {
		s, _, _ = strings.Cut(s, note)
	}
	return strings.TrimSuffix(s, " …")
}

// leastShare is the minimum share of a section in tokens, up to a quarter of
// the limit.
const leastShare = 70

// share returns the maximum number of tokens of a section while other sections
// have lines.
func (c *composer) share(section int) int {
	share := c.strategy.Sections[section].Share
	if share == 0 {
		return c.limit
	}
	return max(int(share*float64(c.limit)), min(leastShare, c.limit/4))
}

// closed reports whether a text ends with punctuation. Then more text can follow without
// a separator.
func closed(s string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, "\"'`”’»)]*_"))
	return strings.ContainsRune(".!?:;,…。！？：；，、—", last)
}

// neutral disables a line that reads like this package's tags or like a
// heading.
func neutral(s string) string {
	s = neutralText(s)
	if strings.HasPrefix(s, "#") {
		s = strings.TrimLeft(s, "# ")
	}
	return s
}

// queue is a heap of candidates, highest gain first.
type queue []*candidate

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].gain != q[j].gain {
		return q[i].gain > q[j].gain
	}
	return q[i].nth < q[j].nth
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(*candidate)) }
func (q *queue) Pop() any {
	old := *q
	k := old[len(old)-1]
	*q = old[:len(old)-1]
	return k
}
