package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/ident"
)

// A textKind is the kind of text that names an identifier.
type textKind uint8

// The kinds of texts that may name an identifier.
const (
	textTold    textKind = iota // text of the user
	textSaid                    // text of the assistant
	textThought                 // reasoning of the assistant
	textAsked                   // arguments of a call
	textShown                   // result of a call
	places
)

// An entity is an identifier with its uses in a history.
type entity struct {
	Text     string
	Kind     ident.Kind
	Count    [places]int32 // messages that name it, by kind of text
	Total    int32         // number of all occurrences
	Task     bool          // the first message of the user names the identifier
	First    int32         // number of the first message that names the identifier
	Last     int32         // number of the last message that names the identifier
	LastUsed int32         // number of the last message of the assistant whose text or arguments have it; 0 = none
	Company  int32         // number of identifiers in the text In, this one included
	Changed  bool          // a created, edited or deleted file, or a name that a change declares
	Tool     bool          // occurs only as the name of a tool or a parameter
	Visible  bool          // messages that stay in the view also name it
	In       place         // the text that names it with the fewest other identifiers
	Origin   place         // the first text that names the identifier
	Place    int32         // lowest position among the identifiers of a line of the previous summary, from 1; 0 = not named

	Score float64 // probability, 0 to 1, that it is needed again and not in the view; set by rank
	seen  [places]int32
}

// A place is a text of a history: the text of a step, or an argument or the result of one
// of its calls.
type place struct {
	where textKind
	step  int32 // number of the message
	call  at    // the call, for arguments and results; call.step -1 = no call
}

// A nameIndex holds every identifier of a history.
type nameIndex struct {
	byText map[string]*entity
	all    []*entity
	arena  []entity // the current block of memory for the elements of all
	first  int32
	last   int32
	task   int32 // number of the user's first message
	ranked []*entity
	shown  map[string]bool // identifiers in messages that stay in the view
	bases  map[string]bool // last elements of paths that the assistant uses
	text   []*entity       // entities of the text that is being added
	call   at              // the call that the text belongs to
	naming bool            // the text is the name of a tool or a parameter
}

// newIndex returns an empty index.
func newIndex() *nameIndex {
	return &nameIndex{byText: make(map[string]*entity, 1024), shown: map[string]bool{}}
}

func (x *nameIndex) add(text string, w textKind, id int) {
	n := int32(id)
	if x.first == 0 {
		x.first = n
	}
	x.last = max(x.last, n)
	if w == textTold && x.task == 0 && strings.TrimSpace(text) != "" {
		x.task = n
	}
	x.text = x.text[:0]
	ident.ScanAll(text, func(k ident.Kind, start, end int) {
		if end-start > maxIdentifier || k == ident.Number && w == textShown && gutter(text, start, end) {
			return
		}
		e := x.entity(text[start:end], k, n)
		if e.Total++; e.Total == 1 {
			e.Origin = place{w, n, x.call}
		}
		e.Tool = x.naming && (e.Tool || e.Total == 1)
		e.Task = e.Task || n == x.task
		if e.seen[w] != n {
			e.seen[w] = n
			e.Count[w]++
			x.text = append(x.text, e)
		}
		e.Last = n
		if w == textSaid || w == textAsked {
			e.LastUsed = n
		}
	})
	for _, e := range x.text {
		if c := int32(len(x.text)); e.Company == 0 || c < e.Company {
			e.Company, e.In = c, place{w, n, x.call}
		}
	}
}

// addName adds the name of a tool or a parameter.
func (x *nameIndex) addName(name string, id int) {
	x.naming = true
	x.add(name, textAsked, id)
	x.naming = false
}

// gutter reports whether a number at the beginning of a line is a line number.
func gutter(text string, start, end int) bool {
	if end >= len(text) || text[end] != '\t' && text[end] != ':' && text[end] != '|' && !strings.HasPrefix(text[end:], "→") {
		return false
	}
	for start > 0 && text[start-1] == ' ' {
		start--
	}
	return start == 0 || text[start-1] == '\n'
}

// show records the identifiers in a text that stays in the view.
func (x *nameIndex) show(text string) {
	ident.ScanAll(text, func(_ ident.Kind, start, end int) { x.shown[text[start:end]] = true })
}

// maxIdentifier is the maximum length, in bytes, of a stored identifier. A longer text is
// data.
const maxIdentifier = 240

func (x *nameIndex) entity(s string, k ident.Kind, n int32) *entity {
	if e, ok := x.byText[s]; ok {
		return e
	}
	if len(x.arena) == cap(x.arena) {
		x.arena = make([]entity, 0, 512)
	}
	x.arena = append(x.arena, entity{Text: s, Kind: k, First: n, Last: n, Visible: x.shown[s]})
	e := &x.arena[len(x.arena)-1]
	x.byText[s] = e
	x.all = append(x.all, e)
	return e
}

// addSummary records the identifiers of the previous summary, and their positions.
func (x *nameIndex) addSummary(d Document) {
	d.all(func(lines []string) []string {
		for _, l := range lines {
			place := int32(0)
			identifiers(l, func(k ident.Kind, s string) {
				place++
				if e := x.entity(s, k, x.first); e.Place == 0 || place < e.Place {
					e.Place = place
				}
			})
		}
		return lines
	})
}

// Lookup returns the entity of an identifier, nil if the history does not
// contain it.
func (x *nameIndex) Lookup(s string) *entity { return x.byText[s] }

// Len returns the number of different identifiers.
func (x *nameIndex) Len() int { return len(x.all) }

// All returns every identifier, in the order of first appearance. The caller
// owns the slice, but must not modify the entities.
func (x *nameIndex) All() []*entity { return slices.Clone(x.all) }

// rank scores every identifier and sorts them, best first.
func (x *nameIndex) rank() {
	x.ranked = slices.Clone(x.all)
	x.noteBases()
	for _, e := range x.ranked {
		e.Score = x.score(e)
	}
	slices.SortStableFunc(x.ranked, func(a, b *entity) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		return strings.Compare(a.Text, b.Text)
	})
}

// noteBases records the file names at the end of the paths that the assistant
// uses.
func (x *nameIndex) noteBases() {
	x.bases = map[string]bool{}
	for _, e := range x.all {
		if e.Kind == ident.Path && e.LastUsed > 0 {
			x.bases[lastElement(e.Text)] = true
		}
	}
}

// lastElement returns the part of a path after its last slash.
func lastElement(p string) string { return p[strings.LastIndexByte(p, '/')+1:] }

// Top returns the n identifiers that are most likely to be needed again, best first. The
// caller must not modify the slice.
func (x *nameIndex) Top(n int) []*entity { return x.ranked[:min(n, len(x.ranked))] }
