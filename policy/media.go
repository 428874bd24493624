package policy

import (
	"context"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/message"
)

// Media replaces old images, audio and files by a text that describes them. Media cost
// more than that text, and an agent at step 60 rarely needs the screenshot of step 3.
// Media replaces the oldest first, and no more than the goal requires, so that the
// beginning of the view changes only at compactions. It leaves the media of the last
// turns and pairs, the last user message, the open round and pinned messages.
type Media struct {
	// Deep also replaces media in the last turns, down to the smallest keep
	// counts of the view.
	Deep bool
	// Turns, if not 0, replaces the turns of the view's Keep: the number of last
	// turns whose media stay. The pairs of that Keep still apply.
	Turns int
	// Heavy replaces only media that have at least 1 KiB in the request, which excludes
	// links and ids.
	Heavy        bool
	ExcludeTools []string // tools whose results keep their media
}

// Name returns "media".
func (Media) Name() string { return "media" }

// Propose offers one group for each message that holds media, the oldest first.
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

// excluded reports whether message i holds a result of an excluded tool.
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

// mediaStays returns a function that reports whether the media of message i
// stay.
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

// least returns the smallest size in bytes of media to replace.
func (m Media) least() int {
	if m.Heavy {
		return 1 << 10
	}
	return 0
}

// maskMedia returns edits that replace the media of message i with a size of least
// bytes or more. Media stay if the placeholder is not cheaper.
func (v *View) maskMedia(i, least int) (group []Edit) {
	m := &v.Messages[i]
	for p := range m.Parts {
		if !m.Replaceable(p) || least > 0 && mediaSize(&m.Parts[p]) < least {
			continue
		}
		mark := v.mediaMark(i, p)
		text, err := v.Forms.Text(mark)
		if err != nil || mark.Tokens <= v.Cost.Text(text) {
			continue
		}
		group = append(group, Edit{Decision: Masked, Reason: "an old " + m.Parts[p].Kind.String(),
			Text: &TextEdit{Index: i, Part: p, Segments: []Segment{{Mark: &mark}}}})
	}
	return group
}

// mediaMark returns the placeholder for the media in part p of message i.
func (v *View) mediaMark(i, p int) Mark {
	o := v.Origin(i, p)
	return Mark{Form: formname.Media, What: v.Messages[i].Parts[p].Kind.String(), Chars: o.Chars, Tokens: v.mediaTokens(i, p), Ref: o.Ref}
}

// mediaTokens returns the number of tokens that the media add to their message.
func (v *View) mediaTokens(i, p int) int {
	without, err := v.Messages[i].WithPartText(p, " ")
	if err != nil {
		return 0
	}
	return max(0, v.Tokens[i]-v.Cost.Message(without)+v.Cost.Text(" "))
}

// mediaSize returns the size in bytes that the media have in the request.
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
