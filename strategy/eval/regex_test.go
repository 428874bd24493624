package eval

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

var defB = []*regexp.Regexp{
	regexp.MustCompile(`https?://[^\s"'<>)\]}\\]+`),
	regexp.MustCompile(`(?:\.{1,2}/|~/|/)?(?:[\w.@-]+/)+[\w.@-]+`),
	regexp.MustCompile(`\b[\w-]+\.[A-Za-z]{1,5}\b`),
	regexp.MustCompile(`\b[0-9a-f]{7,40}\b`),
	regexp.MustCompile(`\b[A-Z]{2,10}-\d+\b`),
	regexp.MustCompile(`\b\d{3,}\b`),
	regexp.MustCompile(`\b[a-z]+[a-z0-9]*[A-Z]\w*\b`),
	regexp.MustCompile(`\b[A-Z][a-z0-9]+[A-Z]\w*\b`),
	regexp.MustCompile(`\b[A-Za-z0-9]+_\w+\b`),
}

func regexSet(s set, text string) {
	for _, r := range defB {
		for _, m := range r.FindAllString(text, -1) {
			s[m] = true
		}
	}
}

func regexMsgs(msgs []message.Message, asst bool) set {
	s := set{}
	for _, m := range msgs {
		for _, p := range m.Parts {
			regexSet(s, p.Text)
			regexSet(s, string(p.Args))
		}
	}
	return s
}

func neededB(sp *Split) []string {
	ev := regexMsgs(sp.Evicted, false)
	known := set{}
	var out []string
	for _, m := range sp.After {
		seen := regexMsgs([]message.Message{m}, false)
		for _, id := range seen.order() {
			if !known[id] {
				known[id] = true
				if m.Role == message.RoleAssistant && ev[id] {
					out = append(out, id)
				}
			}
		}
	}
	return out
}

func TestExploreB(t *testing.T) {
	if os.Getenv("EXPLORE") == "" {
		t.Skip()
	}
	c, _ := token.ForModel("gpt-4")
	cost := func(m message.Message) int {
		n := 4
		for _, p := range m.Parts {
			n += c.Count(p.Text) + c.Count(string(p.Args)) + c.Count(p.Name)
		}
		return n
	}
	sessions := load(t)
	for _, w := range []int{32000, 128000} {
		for _, k := range []int{1, 10} {
			n, need, base := 0, 0, 0
			for _, s := range sessions {
				sp, ok := Cut(s, w, cost)
				if !ok {
					continue
				}
				nb := neededB(&sp)
				if len(nb) < k {
					continue
				}
				n++
				need += len(nb)
				v := regexMsgs(append(sp.Pinned, sp.Recent...), false)
				for _, id := range nb {
					if v[id] {
						base++
					}
				}
			}
			fmt.Printf("B %d >=%d: %d sessions %d needed set %.1f\n", w, k, n, need, 100*float64(base)/float64(need))
		}
	}
}
