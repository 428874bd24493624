package token

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// mediaRule prices what is not text, by the rules that the providers publish.
type mediaRule struct {
	picture     pictureRule
	audioSecond int // tokens for a second of audio
}

// An image of unknown size is priced as a square of this many pixels.
const unknownEdge = 1024

// Sizes and prices where the wire tells nothing but the size in base64.
const (
	rawAudioBytes  = 32_000 // a second of 16-bit mono at 16 kHz
	packedAudio    = 8_000  // a second of mp3, opus or aac at 64 kbit/s
	unknownSeconds = 60     // of audio that is only referred to
	pageBytes      = 50_000 // of a document
	pageTokens     = 2_000
)

// cost prices an image, audio or file part; it is at least 1.
func (r mediaRule) cost(p *message.Part) int {
	m := p.Media
	if m == nil {
		m = &message.Media{Bytes: len(p.Args)}
	}
	switch p.Kind {
	case message.KindAudio:
		return r.audio(m)
	case message.KindFile:
		return document(m)
	}
	return r.image(m)
}

func (r mediaRule) image(m *message.Media) int {
	w, h := PictureSize(m)
	if w <= 0 || h <= 0 {
		w, h = unknownEdge, unknownEdge
	}
	return max(1, r.picture.cost(w, h, m.Detail))
}

// PictureSize returns the size of a picture in pixels, as the wire says it or
// from the header of its data (PNG, JPEG, GIF, WebP); zeros where neither does.
func PictureSize(m *message.Media) (width, height int) {
	if m.Width > 0 && m.Height > 0 {
		return m.Width, m.Height
	}
	return dataURLSize(m.URL)
}

func (r mediaRule) audio(m *message.Media) int {
	decoded := m.Bytes * 3 / 4
	if decoded < 512 { // an id or a link, not the sound itself
		return unknownSeconds * r.audioSecond
	}
	rate := packedAudio
	if strings.Contains(m.MIME, "wav") || strings.Contains(m.MIME, "pcm") {
		rate = rawAudioBytes
	}
	return max(1, decoded*r.audioSecond/rate)
}

func document(m *message.Media) int {
	decoded := m.Bytes * 3 / 4
	if strings.HasPrefix(m.MIME, "text/") || m.MIME == "application/json" {
		return max(1, decoded/4)
	}
	pages := 1 + decoded/pageBytes
	return pages * pageTokens
}

// mediaFor returns the rules of a model. Those of gpt-4o stand for models that
// publish none.
func mediaFor(model string) mediaRule {
	name := baseName(model)
	switch {
	case strings.Contains(name, "claude"):
		return mediaRule{claudeRule(name), 10}
	case strings.Contains(name, "gemini-3"):
		return mediaRule{flatPicture(1120), 32}
	case strings.Contains(name, "gemini"):
		return mediaRule{geminiPicture{}, 32}
	}
	for _, r := range pictureRules {
		if strings.HasPrefix(name, r.prefix) {
			return mediaRule{r.rule, 10}
		}
	}
	return mediaRule{tiles{85, 170}, 10}
}
