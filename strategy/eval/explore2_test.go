package eval

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func TestExploreNeeded(t *testing.T) {
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
			n, need, base, sub := 0, 0, 0, 0
			for _, s := range sessions {
				sp, ok := Cut(s, w, cost)
				if ok && len(sp.Needed) >= k {
					n++
					need += len(sp.Needed)
					base += sp.InView("")
					var b strings.Builder
					for _, m := range append(sp.Pinned, sp.Recent...) {
						for _, p := range m.Parts {
							b.WriteString(p.Text + "\n" + string(p.Args) + "\n")
						}
					}
					for _, id := range sp.Needed {
						if strings.Contains(b.String(), id) {
							sub++
						}
					}
				}
			}
			fmt.Printf("%d >=%d: %d sessions %d needed set %.1f substring %.1f\n", w, k, n, need, 100*float64(base)/float64(need), 100*float64(sub)/float64(need))
		}
	}
}
