package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// shapeless reports whether a draft lacks the requested form: it has no heading of the
// strategy and no list. A refusal has neither, in any language. A list within a letter
// does not count, because an apology may list alternatives.
func shapeless(s Strategy, text string) bool {
	items, others := 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "```"):
		case s.names(line):
			return false
		case isItem(line):
			items++
		default:
			others++
		}
	}
	return items == 0 || others > 1 && others >= items
}

// names reports whether a line is a heading of the strategy.
func (s Strategy) names(line string) bool {
	h, ok := s.heading(line)
	if ok {
		_, ok = s.section(h)
	}
	return ok
}

func isItem(line string) bool { return bullet(line) != line || prose.Unnumbered(line) != line }

// unwrapped returns a draft without the usual additions of chat models: a fence around
// the draft, words before the first heading, and a paragraph after the last item.
func unwrapped(s Strategy, text string) string {
	lines := strings.Split(text, "\n")
	at := func(l string) bool { return s.names(strings.TrimSpace(l)) }
	first := slices.IndexFunc(lines, at)
	if first < 0 {
		return text
	}
	if fenceAt := slices.IndexFunc(lines, isFence); fenceAt >= 0 && fenceAt < first {
		if end := slices.IndexFunc(lines[first:], isFence); end >= 0 {
			lines = lines[:first+end]
		}
	}
	before := slices.DeleteFunc(slices.Clone(lines[:first]), func(l string) bool { return !isItem(strings.TrimSpace(l)) })
	return strings.Join(append(before, withoutFarewell(lines[first:], at)...), "\n")
}

func isFence(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "```") }

// withoutFarewell drops a paragraph after the last item of a list.
func withoutFarewell(lines []string, heading func(string) bool) []string {
	last := -1
	for i, l := range lines {
		if isItem(strings.TrimSpace(l)) || heading(l) {
			last = i
		}
	}
	for i := last + 1; i < len(lines); i++ {
		if strings.TrimSpace(lines[i]) == "" && isItem(strings.TrimSpace(lines[last])) {
			return lines[:i]
		}
	}
	return lines
}

// thin is a number of words: a shorter draft in the requested form is checked for a
// refusal.
const thin = 60

// Reasons why an answer is not a summary.
var (
	errShapeless   = errors.New("it has none of the sections that were requested, and no list")
	errSaysNothing = errors.New("it says nothing about the conversation")
)

// notSummary returns the failure of an answer that is not a summary: ErrRefused if the
// model refuses, else ErrUnusable with the reason why.
func notSummary(text string, why error) error {
	for line := range strings.Lines(text) {
		for sentence := range strings.SplitSeq(bullet(prose.Unnumbered(strings.TrimSpace(line))), ". ") {
			if refuses(sentence) {
				return &Failure{Reason: ErrRefused, Detail: errors.New(prose.Clip(prose.Squash(text), 120))}
			}
		}
	}
	return &Failure{Reason: ErrUnusable, Detail: fmt.Errorf("%w: %s", why, prose.Clip(prose.Squash(text), 120))}
}

// saysNothing reports whether a draft in the requested form says nothing about the
// conversation: it names no identifier of the source, and it contains an excuse, has no
// words, or shares too few words with the source.
func (t *Task) saysNothing(s Strategy, text string) bool {
	var lines []string
	words := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || isFence(line) || s.names(line) {
			continue
		}
		lines = append(lines, bullet(prose.Unnumbered(line)))
		words += len(termsOf(line))
	}
	if words >= thin {
		return false
	}
	t.judging.Lock()
	defer t.judging.Unlock()
	said := strings.Join(lines, "\n")
	excuse := slices.ContainsFunc(lines, excuses)
	if words >= fewWords && !excuse && t.known(said) {
		return false
	}
	return !t.verified(said) && (excuse || words == 0 || words >= fewWords)
}

// fewWords is the minimum number of words needed to tell whether they come from
// the source.
const fewWords = 4

// verified reports whether a text names an identifier of the source.
func (t *Task) verified(text string) (found bool) {
	ident.Scan(text, func(k ident.Kind, start, end int) { found = found || t.material().has(k, text[start:end]) })
	return found
}

// plainWords appear in almost every English line, and rarely in other
// languages.
var plainWords = []string{" the ", " is ", " are ", " was ", " were ", " of ", " to ", " and ", " with ", " has "}

// known reports whether a sixth of the words appears in the conversation. English text
// always passes: drafts are requested in English, and the excuses of English refusals are
// recognized.
func (t *Task) known(text string) bool {
	if prose.HasAny(strings.ToLower(text), plainWords) {
		return true
	}
	all, n := termsOf(text), 0
	for term := range all {
		if t.material().mentions(term) || t.visible().mentions(term) {
			n++
		}
	}
	return 6*n >= len(all)
}

// mentions reports whether a text of the source contains a term.
func (s *source) mentions(term string) bool {
	return slices.ContainsFunc(s.lower(), func(text string) bool { return strings.Contains(text, term) })
}

// termsOf returns the beginnings of the meaningful words of a text. In scripts
// without spaces it returns pairs of characters.
func termsOf(text string) map[string]bool {
	out := map[string]bool{}
	for w := range wordSet(text) {
		r := []rune(w)
		if !slices.ContainsFunc(r, func(c rune) bool { return unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) }) {
			out[w] = true
			continue
		}
		for i := 0; i+1 < len(r); i++ {
			out[string(r[i:i+2])] = true
		}
	}
	return out
}

// excuses reports whether a line is a refusal, or says that nothing can be summarized.
func excuses(line string) bool { return refuses(line) || prose.BeginsAny(lowered(line), blanks) }

// blanks lists beginnings of lines that say that nothing can be summarized.
var blanks = []string{"no summary", "n/a", "none", "nothing to summar", "there is nothing to"}

func lowered(line string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(line)), "’", "'")
}

// refuses reports whether a line is a refusal of a model, in the first person.
func refuses(line string) bool {
	low := lowered(line)
	return prose.BeginsAny(low, refusals) || strings.Contains(low, "as an ai") || strings.Contains(low, "language model")
}

// refusals lists beginnings of refusals.
var refusals = []string{
	"i'm sorry", "i am sorry", "sorry,", "sorry, ", "sorry but", "i apologi", "apologies", "my apologies", "unfortunately, i", "i can't", "i cannot", "i can not", "i won't", "i will not", "i'm unable", "i am unable",
	"i'm not able", "i am not able", "i must decline", "i have to decline", "i'd rather not", "i don't feel comfortable", "i'm not comfortable", "request denied",
	"this request", "your request", "content policy", "the conversation cannot be", "the summary cannot be",
	"es tut mir leid", "tut mir leid", "leider kann ich", "ich kann nicht", "ich kann das nicht", "ich kann diese", "ich kann dabei", "ich darf",
	"je suis désolé", "désolé", "je ne peux pas", "je ne suis pas en mesure", "lo siento", "no puedo", "me disculpo", "mi dispiace", "non posso", "sinto muito", "desculpe", "não posso", "lamento",
	"het spijt me", "ik kan niet", "ik kan dit niet", "przepraszam", "nie mogę", "jag kan inte", "jag är ledsen", "tyvärr", "jeg beklager", "beklager", "omlouvám se", "bohužel", "nemohu", "üzgünüm", "maalesef", "yapamam",
	"извините", "к сожалению", "я не могу", "вибачте", "на жаль", "я не можу", "抱歉", "对不起", "很抱歉", "我无法", "我不能", "無法", "無法提供", "申し訳", "すみません", "お手伝いできません", "죄송합니다", "죄송하지만", "할 수 없습니다",
	"عذرا", "عذرًا", "آسف", "لا أستطيع", "لا يمكنني", "क्षमा", "मुझे खेद", "मैं नहीं", "מצטער", "איני יכול", "xin lỗi", "tôi không thể", "maaf", "saya tidak", "ขออภัย", "anteeksi", "valitettavasti", "sajnálom", "λυπάμαι", "συγγνώμη",
}
