package token

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// A mediaRule computes the cost of media by the rules that the providers publish.
type mediaRule struct {
	picture     pictureRule
	audioSecond int // tokens for a second of audio
	page        int // tokens for a page of a PDF
}

// Assumptions for media if only their size in base64 is known.
const (
	rawAudioBytes  = 32_000 // a second of 16-bit mono at 16 kHz
	packedAudio    = 8_000  // a second of mp3, opus or aac at 64 kbit/s
	unknownSeconds = 60     // of audio that is given by reference
	pageBytes      = 50_000 // per page of a document that is not a PDF
	pageTokens     = 2_000
	leastPageBytes = 10_000 // bytes per page of a PDF whose pages can't be counted; smaller pages hold only text
	maxPages       = 1_000  // the most that any provider accepts
)

// cost returns the cost of an image, audio or file part; it is at least 1.
func (r mediaRule) cost(p *message.Part) int {
	m := p.Media
	if m == nil {
		m = &message.Media{Bytes: len(p.Args)}
	}
	switch p.Kind {
	case message.KindAudio:
		return r.audio(m)
	case message.KindFile:
		return r.file(&message.Part{Media: m, Args: p.Args})
	}
	return r.image(m)
}

func (r mediaRule) image(m *message.Media) int {
	w, h := PictureSize(m)
	if w > 0 && h > 0 {
		return max(1, r.picture.cost(w, h, m.Detail))
	}
	return r.picture.most(m.Detail)
}

// file returns the cost of a PDF by its pages. The bytes that can't be decoded
// count by their size, like other documents.
func (r mediaRule) file(p *message.Part) int {
	pdf, lost := pdfOf(p)
	if pdf == nil {
		return document(p.Media)
	}
	pages := pdfPages(pdf)
	if pages == 0 {
		pages = 1 + len(pdf)/leastPageBytes
	}
	pages += (lost + leastPageBytes - 1) / leastPageBytes
	return min(pages, maxPages) * r.page
}

// PictureSize returns the size of a picture in pixels, from the message or from
// the header of its data (PNG, JPEG, GIF, WebP). It returns zeros if both are
// unknown.
func PictureSize(m *message.Media) (width, height int) {
	if m.Width > 0 && m.Height > 0 {
		return m.Width, m.Height
	}
	return dataURLSize(m.URL)
}

func (r mediaRule) audio(m *message.Media) int {
	decoded := m.Bytes * 3 / 4
	if decoded < 512 { // an id or a link, not the audio itself
		return unknownSeconds * r.audioSecond
	}
	rate := packedAudio
	if strings.Contains(m.MIME, "wav") || strings.Contains(m.MIME, "pcm") {
		rate = rawAudioBytes
	}
	return max(1, decoded*r.audioSecond/rate)
}

// isText reports whether the model gets the words of a document unchanged.
func isText(mime string) bool {
	mime = strings.ToLower(mime)
	return strings.HasPrefix(mime, "text/") || strings.HasPrefix(mime, "application/json")
}

func document(m *message.Media) int {
	decoded := m.Bytes * 3 / 4
	if isText(m.MIME) {
		return max(1, decoded/4)
	}
	pages := 1 + decoded/pageBytes
	return pages * pageTokens
}

// The assumed cost of a page of a PDF: a text and an image. Anthropic states 1,500 to 3,000 tokens
// of text (https://docs.claude.com/en/docs/build-with-claude/pdf-support). OpenAI states no
// numbers, so Anthropic's are used. Google's pages have a fixed cost instead: 258 tokens, or 560
// from Gemini 3 on (https://ai.google.dev/gemini-api/docs/document-processing). The image is that
// of a US Letter page at 150 dots per inch.
const (
	pageText   = 3_000
	pageWidth  = 1275
	pageHeight = 1650
)

// mediaFor returns the rules of a model. Models without published rules get the rules
// of gpt-4o.
func mediaFor(model string) mediaRule {
	name := baseName(model)
	switch {
	case strings.Contains(name, "gemini-3"):
		return mediaRule{flatPicture(1120), 32, 560}
	case strings.Contains(name, "gemini"):
		return mediaRule{geminiPicture{}, 32, 258}
	}
	rule := pictureRuleOf(name)
	return mediaRule{rule, 10, pageText + rule.cost(pageWidth, pageHeight, "")}
}

func pictureRuleOf(name string) pictureRule {
	if strings.Contains(name, "claude") {
		return claudeRule(name)
	}
	for _, r := range pictureRules {
		if strings.HasPrefix(name, r.prefix) {
			return r.rule
		}
	}
	return tiles{85, 170}
}
