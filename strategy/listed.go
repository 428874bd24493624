package strategy

import (
	"iter"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// A listed is the place of a quoted sentence in a list of its message. Without the
// sentences that lead to the list and without the head of its item, a sentence would have
// another meaning. Composers write both before the first sentence that needs them.
type listed struct {
	leads []string // sentences that lead to the list, outermost first
	list  int      // number of the list in its message, 0 for a sentence outside of lists
	item  int      // number of the item in its message
	mark  string   // number that the message gives the item: "3."
	head  string   // first sentence of the item, "" if this sentence is the first
	seq   int      // number of the sentence in its list
	of    *int     // number of sentences in the list
	finds bool     // the list has what the agent found
}

// Maximum lengths of the texts before a sentence of a list, in characters.
const (
	maxLead = maxPassage / 2
	maxHead = 90
)

// before returns the text before the first quoted sentence of an item: the number of the
// item and the head.
func (l *listed) before() string {
	switch {
	case l.item == 0:
		return ""
	case l.head == "":
		return l.mark
	}
	head := prose.Clip(l.head, maxHead)
	if !closed(head) {
		head += ":"
	}
	return strings.TrimSpace(l.mark + " " + head)
}

// names returns the identifiers in the texts before a sentence. A summary with the
// sentence also has these texts.
func (l *listed) names() []string {
	if l == nil {
		return nil
	}
	var out []string
	for _, text := range append([]string{prose.Clip(l.head, maxHead)}, l.leads...) {
		identifiers(text, func(_ ident.Kind, s string) { out = append(out, s) })
	}
	return out
}

// key returns a prefix that distinguishes equal sentences of different lists.
func (l *listed) key() string {
	if l == nil {
		return ""
	}
	return itemKey(strings.Join(l.leads, " ")+l.head) + ":"
}

// leastTold is the minimum length, in bytes, of a sentence that has the same meaning in
// every list.
const leastTold = 40

// apart reports whether a sentence has another meaning than an equal sentence elsewhere,
// because other text leads to it.
func (l *listed) apart(o *listed, text string) bool {
	if l == nil {
		return false
	}
	for _, lead := range l.leads {
		if alternates(lead) && (o == nil || !slices.Contains(o.leads, lead)) {
			return true
		}
	}
	return l.head != "" && len(text) < leastTold
}

// preceding returns the texts before a line: the sentences that lead to its list, and the
// text before it in its item. Each text has a key, so that a summary has it only once.
func (k *candidate) preceding() iter.Seq2[groupKey, string] {
	return func(yield func(groupKey, string) bool) {
		if k.place == nil {
			return
		}
		path := k.Group
		for _, lead := range k.place.leads { // equal leads under two headings are two texts
			path += "\x00" + lead
			if !yield(groupKey{k.Section, path}, lead) {
				return
			}
		}
		if k.place.item > 0 {
			yield(groupKey{k.Section, k.Group + "\x01" + itoa(k.place.item)}, k.place.before())
		}
	}
}

// follows reports whether no sentence is left out between two sentences of a message. For
// sentences outside of lists, apart states whether one is left out.
func (l *listed) follows(before *listed, apart bool) bool {
	switch {
	case before.inList() && l.inList() && before.list == l.list:
		return l.seq == before.seq+1
	case before.inList() && !before.ends(), l.inList() && l.seq > 1:
		return false
	}
	return !apart
}

func (l *listed) inList() bool { return l != nil && l.list > 0 }

// ends reports whether a sentence is the last sentence of its list, or in no list.
func (l *listed) ends() bool { return !l.inList() || l.seq == *l.of }

// A lister follows the lists of a message from sentence to sentence.
type lister struct {
	leads []lead
	now   listed
	outer []lead // items around the next item
	first string // first sentence of the item
	title string // heading right before the next sentence
	under string // heading of the section
}

// A lead is a sentence that leads to a list.
type lead struct {
	text   string
	indent int  // indentation of the item that contains the lead; outside = in no item
	finds  bool // the lead announces what the agent found
}

// outside is the indentation of a sentence that is in no item.
const outside = -1

// at returns the place of the next sentence.
func (x *lister) at(one prose.Sentence) *listed {
	if one.Heading || !one.Item {
		led := x.leads
		if x.now.list > 0 {
			led = nil // these sentences led to the list that ends here
		}
		x.leads, x.now, x.title = nil, listed{list: -abs(x.now.list), item: x.now.item}, ""
		if one.Heading {
			x.under = prose.Clip(prose.Squash(strings.TrimRight(one.Text, ": ")), maxHead)
		}
		if one.Heading || one.Title {
			x.title = prose.Clip(prose.Squash(strings.TrimRight(one.Text, ": ")), maxHead)
		}
		if one.Heading || len(led) == 0 {
			return nil
		}
		return &listed{leads: texts(led)} // the text after these sentences is not a list
	}
	for n := len(x.leads); n > 0 && x.leads[n-1].indent >= one.Indent; n-- {
		x.leads = x.leads[:n-1] // a list within an earlier item has ended
	}
	if x.now.list <= 0 {
		if x.title != "" && len(x.leads) == 0 && (labeled(one.Text) || one.Mark != "") {
			x.leads = []lead{{x.title + ":", outside, false}}
		}
		x.now.list, x.now.seq, x.now.of = 1-x.now.list, 0, new(int)
	}
	around := x.around(one)
	if !one.Later {
		x.now.item++
		x.now.mark, x.first = one.Mark, prose.Squash(one.Text)
	}
	place := x.now
	if one.Later {
		place.head = x.first
	}
	place.leads, place.finds = append(texts(x.leads), texts(around)...), slices.ContainsFunc(x.leads, func(l lead) bool { return l.finds })
	return &place
}

// around returns the items that contain the item of a sentence. A sentence that leads to a
// list is among the leads already.
func (x *lister) around(one prose.Sentence) []lead {
	if x.now.seq == 0 && !one.Later {
		x.outer = nil
	}
	for n := len(x.outer); n > 0 && (x.outer[n-1].indent > one.Indent || x.outer[n-1].indent == one.Indent && !one.Later); n-- {
		x.outer = x.outer[:n-1]
	}
	n := len(x.outer)
	if one.Later && n > 0 && x.outer[n-1].indent == one.Indent {
		n-- // its own item
	}
	around := slices.Clone(x.outer[:n])
	if t := prose.Squash(one.Text); !one.Later && len(t) <= maxHead && !leads(t) {
		x.outer = append(x.outer, lead{text: parentText(one.Mark, t), indent: one.Indent})
	}
	return around
}

// parentText returns the text of an item before the items in it.
func parentText(mark, text string) string {
	if !closed(text) {
		text += ":"
	}
	return strings.TrimSpace(mark + " " + text)
}

// longestLabel is the maximum length of a label, in bytes.
const longestLabel = 24

// labeled reports whether a sentence begins with a label: "Ingredients: flour and water". The
// heading before the list names the subject of the sentence.
func labeled(t string) bool {
	label, _, ok := strings.Cut(t, ":")
	return ok && len(label) <= longestLabel && len(strings.Fields(label)) <= 3 && !strings.ContainsAny(label, "`/.({\"[0123456789") && label != "" && label[0] >= 'A' && label[0] <= 'Z'
}

// count counts a sentence that is not a lead.
func (x *lister) count(place *listed) {
	if place.inList() {
		x.now.seq++
		*x.now.of = x.now.seq
		place.seq = x.now.seq
	}
}

// lead records that a sentence leads to the text after it.
func (x *lister) lead(one prose.Sentence, place *listed) {
	text, indent := prose.Clip(prose.Squash(one.Text), maxLead), outside
	if place.inList() {
		indent = one.Indent
		text = strings.TrimSpace(place.before() + " " + text)
	} else if place != nil {
		text = strings.Join(append(place.leads, text), " ")
	}
	if !place.inList() && dullLead(one.Text) {
		text = ""
	}
	if !place.inList() && x.under != "" && labeled(one.Text) {
		x.leads = append(x.leads, lead{x.under + ":", outside, false}) // "Cons:" of which option
	}
	x.leads = append(x.leads, lead{text, indent, prose.HasAny(strings.ToLower(one.Text), foundLeads) && !alternates(one.Text)})
}

// dullLead reports whether a sentence that leads to a list says nothing about the list.
func dullLead(t string) bool {
	return !alternates(t) && (narrates(t) || prose.BeginsAny(strings.ToLower(t), []string{"here's ", "here’s ", "here is ", "here are ", "below ", "the following:", "summary:", "results:", "以下", "下面"}))
}

func texts(leads []lead) []string {
	var out []string
	for _, l := range leads {
		if l.text != "" {
			out = append(out, l.text)
		}
	}
	return out
}

func abs(n int) int { return max(n, -n) }
