package policy

import (
	"context"

	"github.com/agentcompact/compact/message"
)

// Media replaces old pictures, sounds and files by a text that says what was
// there: they cost more than what was said of them, and nobody looks at the
// screenshot of step 3 at step 60. The oldest go first, and no more of them than the goal
// needs, so that the beginning of the view changes at compactions alone. Those of the last turns and pairs,
// of the last user message, of the open round and of pinned messages stay.
type Media struct {
	// Deep takes those of the last turns, too, down to the keep counts that the view
	// may be shrunk to.
	Deep bool
	// Turns is how many of the last turns keep theirs, whatever the keep counts; 0: as
	// above.
	Turns int
	// Heavy takes those alone that make the request larger by at least 1 kB: no links and
	// ids.
	Heavy        bool
	ExcludeTools []string // tools whose results keep their media
}

// Name returns "media".
func (Media) Name() string { return "media" }

// Propose offers one group for each message that has some, the oldest first.
func (m Media) Propose(_ context.Context, v *View) (Proposal, error) {
	var p Proposal
	keep := v.Keep
	switch {
	case m.Deep:
		keep = v.Smallest()
	case m.Turns > 0:
		keep.Turns = m.Turns
	}
	stays := v.mediaStays(keep)
	for i := range v.Messages {
		if stays(i) || m.excluded(v, i) {
			continue
		}
		if group := v.maskMedia(i, m.least()); len(group) > 0 {
			p.Groups = append(p.Groups, group)
		}
	}
	return p, nil
}

// excluded reports whether message i is the result of an excluded tool.
func (m Media) excluded(v *View, i int) bool {
	if len(m.ExcludeTools) == 0 {
		return false
	}
	out := Mask{ExcludeTools: m.ExcludeTools}.excluded(v)
	for p := range v.Messages[i].Parts {
		if part := &v.Messages[i].Parts[p]; part.CallID != "" && out(i, part) {
			return true
		}
	}
	return false
}

// mediaStays returns what says of a message that its media are not taken out.
func (v *View) mediaStays(keep Keep) func(i int) bool {
	if !v.HasMedia() {
		return func(int) bool { return true }
	}
	recent := v.recentRounds(keep)
	return func(i int) bool {
		return recent[v.round[i]] || v.Pinned[i] || i == v.Anchor || i >= v.Open
	}
}

func bearsMedia(m *message.Message) bool {
	for p := range m.Parts {
		if m.Parts[p].Kind.IsMedia() {
			return true
		}
	}
	return false
}

// least is the size in bytes from which on a piece of media is taken out.
func (m Media) least() int {
	if m.Heavy {
		return 1 << 10
	}
	return 0
}

// maskMedia returns the edits that replace the media of message i that have so many
// bytes. What would not get cheaper stays.
func (v *View) maskMedia(i, least int) (group []Edit) {
	m := &v.Messages[i]
	for p := range m.Parts {
		if !m.Replaceable(p) || least > 0 && mediaSize(&m.Parts[p]) < least {
			continue
		}
		mark := v.mediaMark(i, p)
		text, err := v.Forms.Render(mark, Answered{})
		if err != nil || mark.Tokens <= v.Cost.Text(text) {
			continue
		}
		group = append(group, Edit{Decision: Masked, Reason: "an old " + m.Parts[p].Kind.String(),
			Text: &TextEdit{Index: i, Part: p, Segments: []Segment{{Mark: &mark}}}})
	}
	return group
}

// mediaMark is the placeholder of a piece of media.
func (v *View) mediaMark(i, p int) Mark {
	o := v.Origin(i, p)
	return Mark{Form: FormMedia, What: v.Messages[i].Parts[p].Kind.String(), Chars: o.Chars, Tokens: v.mediaTokens(i, p), Ref: o.Ref}
}

// mediaTokens is what a piece of media adds to its message.
func (v *View) mediaTokens(i, p int) int {
	without, err := v.Messages[i].WithPartText(p, " ")
	if err != nil {
		return 0
	}
	return max(0, v.Tokens[i]-v.Cost.Message(without)+v.Cost.Text(" "))
}

// mediaSize is the size of a piece of media as it is sent, in bytes.
func mediaSize(p *message.Part) int {
	if p.Media != nil && p.Media.Bytes > 0 {
		return p.Media.Bytes
	}
	n := len(p.Args)
	if p.Media != nil {
		n = max(n, len(p.Media.URL))
	}
	return n
}
