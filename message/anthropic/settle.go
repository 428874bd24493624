package anthropic

import (
	"bytes"
	"slices"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// Write implements [wire.Request.Write]. A cache mark on a removed message moves
// to the last message before it that remains, or to the system prompt. If the new
// place has a mark, the moved one is dropped. So the number of marks never
// increases, and longer-lasting marks stay before the others.
func (r *request) Write(view []message.Message, sources []int) ([]byte, error) {
	s, err := r.settled(view, sources)
	if err != nil {
		return nil, err
	}
	return s.body(), nil
}

// settled returns a view in its written form, with its marks at their new places.
func (r *request) settled(view []message.Message, sources []int) (*settling, error) {
	d, err := r.Draft(view, sources)
	if err != nil {
		return nil, err
	}
	s := &settling{request: r, draft: d, prompt: r.prompt, tools: r.about.Tools}
	if !d.Same() && bytes.Contains(r.Body(), markKey) {
		s.at = places(d.Units, sources, len(r.Messages()))
		s.move()
		s.order()
	}
	return s, nil
}

// places returns, for each message of the request, the unit that holds it; -1 =
// removed.
func places(units []splice.Unit, sources []int, n int) []int {
	at := slices.Repeat([]int{-1}, n)
	for i, u := range units {
		for _, s := range sources[u.From:u.To] {
			if s >= 0 {
				at[s] = i
			}
		}
	}
	return at
}

// settling is a body whose marks are moved to their new places.
type settling struct {
	*request
	draft  *splice.Draft
	prompt []byte // system prompt to be written
	tools  []byte // tools to be written
	at     []int  // see places
}

// move finds a new place for the marks of removed messages.
func (s *settling) move() {
	for from := s.listed(); from < len(s.at); from++ {
		if s.at[from] >= 0 {
			continue // an edit leaves marks in place
		}
		for _, m := range itemMarks(s.Messages()[from].Raw()) {
			s.put(from, m)
		}
	}
}

// put sets mark m on the last remaining message before message number before that can carry a mark,
// or else on the system prompt. If that message ends with a mark already, m is dropped.
func (s *settling) put(before int, m mark) {
	for to := before - 1; to >= s.listed(); to-- {
		if s.at[to] < 0 {
			continue
		}
		item, ok := markedItem(s.draft.Raw(s.at[to]), m)
		if ok {
			s.draft.Set(s.at[to], item)
		}
		if ok || endsMarked(s.draft.Raw(s.at[to])) {
			return
		}
	}
	if content, ok := withMark(s.prompt, m); ok {
		s.prompt = content
	}
}

// endsMarked reports whether an item ends with a mark: its last block that can carry a
// mark has a mark, or a later one.
func endsMarked(item []byte) bool {
	h, err := readHead(item)
	if err != nil || h.Content.End == 0 || item[h.Content.Start] != '[' {
		return false
	}
	content := h.Content.Of(item)
	b, ok := lastMarkable(content)
	return ok && (b.marker.End > 0 || marksBehind(content, b.at.End))
}

// order removes short-lived marks that ended up before a longer-lasting one,
// because the longer one caches the same prefix. It changes nothing if the
// request itself has shorter-lived marks before longer-lasting ones.
func (s *settling) order() {
	last := -1 // the last unit with a mark for an hour
	for i := range s.draft.Units {
		if slices.ContainsFunc(itemMarks(s.draft.Raw(i)), func(m mark) bool { return m.hour }) {
			last = i
		}
	}
	if last < 0 || s.unordered() {
		return
	}
	for i := range last {
		if slices.ContainsFunc(itemMarks(s.draft.Raw(i)), func(m mark) bool { return !m.hour }) {
			s.draft.Set(i, withoutShort(s.draft.Raw(i)))
		}
	}
}

// unordered reports whether shorter-lived marks of the request itself come before
// longer-lasting ones.
func (r *request) unordered() bool {
	r.look()
	return r.wrongOrder
}

// ownOrder reports whether the longer-lasting marks of a list of messages come before
// its other marks, and after the marks of the tools and of the system prompt.
func (r *request) ownOrder(msgs []message.Message) bool {
	all := slices.Concat(marksOf(r.about.Tools), marksOf(r.prompt))
	for i := range msgs {
		all = append(all, itemMarks(msgs[i].Raw())...)
	}
	return inOrder(append(all, r.marks...))
}

func inOrder(all []mark) bool {
	for i := 1; i < len(all); i++ {
		if all[i].hour && !all[i-1].hour {
			return false
		}
	}
	return true
}

// body returns the body with the marks at their new places. A mark makes a
// field longer, so that a field with its old length is unchanged.
func (s *settling) body() []byte {
	out := s.draft.Body()
	if len(s.prompt) != len(s.request.prompt) {
		out = withField(out, "system", s.prompt)
	}
	if len(s.tools) != len(s.request.about.Tools) {
		out = withField(out, "tools", s.tools)
	}
	return out
}

// withField returns a body with another value in a field that occurs once.
func withField(body []byte, name string, value []byte) []byte {
	var at jsonscan.Span
	_ = jsonscan.Object(body, jsonscan.Span{Start: jsonscan.Space(body, 0), End: len(body)}, func(m jsonscan.Member) error { // the body was parsed before
		if m.Key == name {
			at = m.Value
		}
		return nil
	})
	return slices.Concat(body[:at.Start], value, body[at.End:])
}
