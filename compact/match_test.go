package compact

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestALongLineIsSearchedInPieces(t *testing.T) {
	line := strings.Repeat("äbc ", 5000) + "needle=1" + strings.Repeat(" xyz", 5000)
	for pattern, want := range map[string]string{
		`needle=\d`: "needle=1", `^äbc`: "äbc", `xyz$`: "xyz", `^needle`: "", `^xyz`: "", `äbc$`: "",
		`c needle`: "c needle", `\bneedle=1\b`: "needle=1", `^ `: "", `.*needle.*`: "needle", `(?i)NEEDLE`: "needle",
	} {
		at, err := newMatcher(t.Context(), regexp.MustCompile(pattern)).find(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := at != nil; got != (want != "") {
			t.Errorf("%s: found %v, want %q", pattern, at, want)
		} else if got && !strings.Contains(line[at[0]:at[1]], want) {
			t.Errorf("%s: found %.40q, want %q", pattern, line[at[0]:at[1]], want)
		}
	}
	for at := 4<<10 - 20; at < 4<<10+20; at++ { // wherever two pieces meet
		line := strings.Repeat("a", at) + "needle" + strings.Repeat("a", 9<<10)
		if got, _ := newMatcher(t.Context(), regexp.MustCompile("needle")).find(line); got == nil || got[0] != at {
			t.Errorf("found at %v, want %d", got, at)
		}
	}
}

// costly is a pattern that takes a second for a line of 64 KB.
const costly = ".{0,999}!"

func TestAPatternEndsWithItsContext(t *testing.T) {
	lines := []string{}
	long := strings.Repeat("a", 64<<10)
	for range 2000 { // minutes, if nothing ended it
		lines = append(lines, long)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := matching(newMatcher(ctx, regexp.MustCompile(costly)), lines, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	q, err := parseRecall(json.RawMessage(`{"ref":"3f9a2c1b77de","pattern":".{0,999}!"}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := q.answer(ctx, strings.Join(lines[:50], "\n"), 1000); !strings.Contains(got, "takes too long") {
		t.Errorf("the model is told %q", got)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
}

// What takes too long is given up by itself, and what was found stays.
func TestASearchIsGivenUpAfterItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := withMatchTime(t.Context())
		defer cancel()
		time.Sleep(matchTime)
		synctest.Wait()
		if _, err := newMatcher(ctx, regexp.MustCompile("a")).find("a"); !errors.Is(err, errLongMatch) {
			t.Error(err)
		}
		s := &session{}
		r := &searcher{s: s, matcher: newMatcher(ctx, regexp.MustCompile("a")), most: 9, left: 99, seen: map[string]bool{}, shown: map[string]bool{}}
		line := []byte(`{"role":"user","content":"a","meta":{"fp":"00112233445566778899aabbccddeeff","refs":["001122334455"]}}`)
		if err := r.line(line, eviction{}); !errors.Is(err, errLongMatch) {
			t.Error(err)
		}
	})
}
