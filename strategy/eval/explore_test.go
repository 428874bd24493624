package eval

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
)

func load(t testing.TB) []Session {
	dir := os.Getenv("COMPACT_TRANSCRIPTS")
	if dir == "" {
		dir = "../shared/transcripts"
	}
	files, _ := filepath.Glob(filepath.Join(dir, "chat", "*.jsonl*"))
	var out []Session
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f, ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		msgs, _, err := openai.Parse(data)
		if err != nil {
			t.Fatal(f, err)
		}
		name := filepath.Base(f)
		parts := strings.SplitN(name, "-", 3)
		out = append(out, Session{Name: name, Source: parts[0] + "-" + parts[1], Messages: msgs})
	}
	return out
}

func TestExplore(t *testing.T) {
	if os.Getenv("EXPLORE") == "" {
		t.Skip()
	}
	c, err := token.ForModel("gpt-4")
	if err != nil {
		t.Fatal(err)
	}
	sessions := load(t)
	costs := map[string]map[message.Fingerprint]int{}
	_ = costs
	cost := func(m message.Message) int {
		n := 4
		for _, p := range m.Parts {
			n += c.Count(p.Text) + c.Count(string(p.Args)) + c.Count(p.Name)
		}
		return n
	}
	st := strategy.TaskState
	if v := os.Getenv("STRATEGY"); v != "" {
		st, err = strategy.Lookup(v)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range []struct{ window, limit int }{{32000, 1500}, {128000, 1500}, {128000, 4000}} {
		n, needed, base, full, norefs := 0, 0, 0, 0, 0
		tok, hit := map[string]int{}, map[string]int{}
		for _, s := range sessions {
			sp, ok := Cut(s, w.window, cost)
			if !ok || len(sp.Needed) == 0 {
				continue
			}
			n++
			needed += len(sp.Needed)
			base += sp.InView("")
			sum, err := strategy.Writer{MaxTokens: w.limit, Strategy: st}.Write(context.Background(), strategy.Input{Messages: sp.Evicted, Visible: append(append([]message.Message{}, sp.Pinned...), sp.Recent...), Count: c.Count})
			if err != nil {
				t.Log(s.Name, err)
			}
			full += sp.InView(sum.Text)
			for i, sec := range strings.Split(sum.Text, "\n## ") {
				if i > 0 {
					sec = "## " + sec
				}
				title, _, _ := strings.Cut(sec, "\n")
				tok[title] += c.Count(sec)
				have := set{}
				have.text(sec)
				kept := set{}
				for _, m := range append(append([]message.Message{}, sp.Pinned...), sp.Recent...) {
					kept.message(m)
				}
				for _, id := range sp.Needed {
					if have[id] && !kept[id] {
						hit[title]++
					}
				}
			}
			text, _, _ := strings.Cut(sum.Text, "## References")
			norefs += sp.InView(text)
			if os.Getenv("EXPLORE") == s.Name {
				fmt.Println(sum.Text, sum.Tokens)
			}
		}
		for k, v := range tok {
			fmt.Printf("   %-40s %6d tokens, %4d hits, %.4f/token\n", k, v/n, hit[k], float64(hit[k])/float64(v))
		}
		pct := func(x int) float64 { return 100 * float64(x) / float64(needed) }
		fmt.Printf("window %d limit %d: %d sessions, %d needed, no summary %.1f, %s %.1f, without refs %.1f\n", w.window, w.limit, n, needed, pct(base), st.Name, pct(full), pct(norefs))
	}
}
