package redact

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
)

// hostileMemory returns values that begin alike, and texts that repeat this beginning.
func hostileMemory(n, size int) (learned, text string) {
	var b strings.Builder
	unit := "aB3dE7gH"
	for i := range n {
		fmt.Fprintf(&b, "password: %sx%dQ\n", strings.Repeat(unit, 125)[:8+2*(i%496)], i)
	}
	return b.String(), strings.Repeat(unit, size/len(unit))
}

// TestASessionWithHostileValuesReadsInLinearTime: one session knows hundreds of values
// that begin alike, and another session knows one of them. The first must not take far
// longer for a text that repeats the beginning.
func TestASessionWithHostileValuesReadsInLinearTime(t *testing.T) {
	learned, _ := hostileMemory(500, 0)
	s := newRedactor(t, Options{}).Session()
	for line := range strings.Lines(learned) {
		s.Learn([]byte(line))
	}
	took := func(size int) time.Duration {
		_, text := hostileMemory(0, size)
		start := cputime.Used()
		s.Text("it is " + text)
		return cputime.Used() - start
	}
	took(8 << 10)
	small, large := took(52<<10), took(210<<10)
	t.Logf("52 KB took %v, 210 KB %v", small, large)
	if large > 12*small+100*time.Millisecond {
		t.Errorf("52 KB took %v, 210 KB %v, want at most 12 times as long", small, large)
	}
}

func TestSessionFindsTheLongestSecretWithTheSameBeginning(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	short, long := "aB3dE7gH"+letters(12), "aB3dE7gH"+letters(12)+"k4T9"+letters(9)
	s.Learn([]byte("password: " + short))
	s.Learn([]byte("password: " + long))
	if got := s.Text("it is " + long + " and " + short).String(); got != "it is <REDACTED> and <REDACTED>" {
		t.Errorf("%q, want both secrets removed", got)
	}
}

// A value is still found in every spelling after many other values, for which the memory
// has begun a new generation.
func TestASessionKnowsOlderValuesInOtherSpellings(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	s.Learn([]byte("password: aB3$dE7gHk9Lm"))
	for i := 0; s.mem.older == nil; i++ {
		if i > 2*maxRemembered {
			t.Fatal("there is no older generation")
		}
		s.Learn(fmt.Appendf(nil, "password: q%dWzX%05dyT", i, 7*i))
	}
	for _, form := range []string{"aB3$dE7gHk9Lm", `aB3\u0024dE7gHk9Lm`, "aB3%24dE7gHk9Lm", "aB3&#36;dE7gHk9Lm"} {
		if got := s.Text("it is " + form + " now").String(); got != "it is <REDACTED> now" {
			t.Errorf("%s: %q, want the value removed", form, got)
		}
	}
}
