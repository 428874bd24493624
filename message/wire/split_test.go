package wire

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// conversation returns a body of n messages of conversation id.
func conversation(id string, n int) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","messages":[{"role":"system","content":"` + strings.Repeat("s", 5000) + `"}`)
	for i := range n {
		fmt.Fprintf(&b, `, {"role":"user","content":"%s %d %s"}`, id, i, strings.Repeat("x", 300))
	}
	fmt.Fprintf(&b, `],"n":%d}`, n)
	return []byte(b.String())
}

func TestSplitIsTheSameWithAndWithoutACache(t *testing.T) {
	c := NewCache(0)
	var wg sync.WaitGroup
	for _, id := range []string{"a", "b", "c", "d"} {
		wg.Go(func() {
			for _, n := range []int{1, 2, 30, 31, 31, 40, 3, 60, 59, 61, 5} {
				body := conversation(id, n)
				got, err := c.Split(body, "messages")
				want, _ := jsonscan.Split(body, "messages")
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("%s %d: %v %s, want no error and none", id, n, err, diff)
				}
				clear(body) // the cache has its own copy
			}
		})
	}
	wg.Wait()
	bad := append(conversation("a", 5), '}')
	if _, err := c.Split(bad, "messages"); err == nil {
		t.Error("a broken body was accepted")
	}
	if _, err := c.Split(conversation("a", 5), "messages"); err != nil {
		t.Errorf("after a broken body: %v", err)
	}
	if got := len(c.bodies.list); got > maxBodies {
		t.Errorf("the cache keeps %d bodies, want at most maxBodies", got)
	}
}

// A caller may read the next body into the buffer of the last body. The data of the
// last body does not change.
func TestSplitKeepsNothingOfTheCallers(t *testing.T) {
	c := NewCache(0)
	buf := []byte(`{"messages":["1234567",   "89"]}`)
	if _, err := c.Split(buf, "messages"); err != nil {
		t.Fatal(err)
	}
	copy(buf, `{"messages":["123","456","789"]}`)
	got, err := c.Split(buf, "messages")
	want, _ := jsonscan.Split(buf, "messages")
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

// Two wires may read different lists of one body.
func TestSplitReadsTheBodyAgainForAnotherList(t *testing.T) {
	c := NewCache(0)
	body := []byte(`{"messages":[1,2,3],"input":["4","5"],"contents":[]}`)
	for _, list := range []string{"messages", "contents", "input", "messages"} {
		got, err := c.Split(body, list)
		want, _ := jsonscan.Split(body, list)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s, want no error and none", list, err, diff)
		}
	}
}

func TestSplitKnowsTheLastBodiesOnly(t *testing.T) {
	c := NewCache(0)
	for i := range 3 * maxBodies {
		body := []byte(fmt.Sprintf(`{"messages":["%d"]}`, i))
		if _, err := c.Split(bytes.Repeat(body, 1), "messages"); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(c.bodies.list); got > maxBodies {
		t.Errorf("the cache keeps %d bodies, want at most maxBodies", got)
	}
	small := NewCache(1000)
	if _, err := small.Split(conversation("a", 9), "messages"); err != nil || len(small.bodies.list) != 0 {
		t.Errorf("a body larger than the cache is kept: %v", err)
	}
}

// The cache keeps the newest bodies, however many conversations there are.
func TestACacheKeepsTheNewestBodies(t *testing.T) {
	c := NewCache(0)
	for i := range 3 * maxBodies {
		if _, err := c.Split(fmt.Appendf(nil, `{"n":%d,"messages":[{"role":"user","content":"%s"}]}`, i, strings.Repeat("x", 100*i)), "messages"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(c.bodies.list); n != maxBodies {
		t.Fatalf("%d bodies are kept, want %d", n, maxBodies)
	}
	for i, s := range c.bodies.list {
		if want := fmt.Sprintf(`{"n":%d,`, 2*maxBodies+i); !strings.HasPrefix(string(s.data), want) {
			t.Errorf("body %d begins with %.12s, want %s", i, s.data, want)
		}
	}
}
