package histgen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/agentcompact/compact/message"
)

var tools = []string{"read_file", "grep", "run_tests", "dispatch", "search", "bash"}

var vocabulary = strings.Fields(`the a test fails when error returned nil pointer func main package import
	session token window budget config path src/internal/store.go 42 0x7f 128,000 https://example.com/a?b=c
	retry deadline queue worker lock mutex channel buffer io.EOF line column {"ok":true} [] () => != == 3.14
	compile build deploy branch commit merge rebase release v1.2.3 user admin password-reset invoice`)

var foreign = []string{"漢字かな交じり文", "対話の文脈", "안녕하세요", "Привет", "مرحبا", "👩‍👩‍👧‍👦", "🏳️‍🌈", "e\u0301", "\u200b", "𝔘𝔫𝔦", "ßſ", "\u2028"}

// words writes a text of n words, in lines.
func words(rng *rand.Rand, n int, foreignShare float64) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(pick(rng, " ", " ", " ", " ", "\n", "\t"))
		}
		if chance(rng, foreignShare) {
			b.WriteString(pick(rng, foreign...))
		} else {
			b.WriteString(pick(rng, vocabulary...))
		}
	}
	return b.String()
}

func (b *builder) share() float64 {
	if chance(b.rng, b.Foreign) {
		return 0.7
	}
	return 0
}

// text returns the text of a message.
func (b *builder) text() string {
	if chance(b.rng, b.Forged) {
		return forgedText(b.rng)
	}
	return words(b.rng, 1+b.rng.IntN(max(b.Words, 1)), b.share())
}

// result returns the text of a tool result.
func (b *builder) result() string {
	switch {
	case chance(b.rng, b.Empty):
		return ""
	case chance(b.rng, b.Forged):
		return forgedText(b.rng)
	case chance(b.rng, b.Dispatch):
		return b.dispatch()
	case chance(b.rng, b.Huge):
		return b.huge()
	}
	return words(b.rng, 1+b.rng.IntN(max(3*b.Words, 1)), b.share())
}

// huge returns a long result, sometimes one that is hard to count or to cut.
func (b *builder) huge() string {
	switch b.rng.IntN(8) {
	case 0:
		return strings.Repeat("a", b.HugeWords*4)
	case 1:
		return strings.Repeat("漢", b.HugeWords)
	case 2:
		return strings.Repeat(" \n", b.HugeWords*2)
	case 3:
		return strings.Repeat("=-", b.HugeWords*2)
	case 4:
		return strings.Repeat("\xff\xfe\x00bin", b.HugeWords)
	}
	return words(b.rng, b.HugeWords, b.share())
}

// dispatch returns a result with blocks that survive masking, and blocks that
// have no end, end before they begin, or contain another block.
func (b *builder) dispatch() string {
	const begin, end = "BEGIN_DISPATCH_RESULT", "END_DISPATCH_RESULT"
	inner := words(b.rng, 1+b.rng.IntN(20), b.share())
	block := begin + "\n" + inner + "\n" + end
	before, after := words(b.rng, b.rng.IntN(1+b.Words), 0), words(b.rng, b.rng.IntN(1+b.Words), 0)
	return before + pick(b.rng,
		block, block, block, block+"\n"+after+"\n"+block, begin+end, begin+inner, end+inner+begin, begin+block+end,
	) + after
}

func arguments(rng *rand.Rand) string {
	return fmt.Sprintf(`{"path": "pkg/file_%d.go", "line": %d, "big": 123456789012345678901}`, rng.IntN(100), rng.IntN(1000))
}

func medium(rng *rand.Rand) message.Part {
	switch rng.IntN(4) {
	case 0:
		return message.Part{Kind: message.KindAudio}
	case 1:
		return message.Part{Kind: message.KindFile}
	}
	return message.Part{Kind: message.KindImage, Media: &message.Media{
		URL: pick(rng, "https://example.com/cat.png", "data:image/png;base64,iVBORw0KGgo="), Detail: pick(rng, "low", "high", "auto", ""),
	}}
}
