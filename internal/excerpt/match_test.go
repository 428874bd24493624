package excerpt

import (
	"context"
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
		at, err := NewMatcher(t.Context(), regexp.MustCompile(pattern)).Find(line)
		if err != nil {
			t.Fatal(err)
		}
		if got := at != nil; got != (want != "") {
			t.Errorf("%s: found %v, want %q", pattern, at, want)
		} else if got && !strings.Contains(line[at[0]:at[1]], want) {
			t.Errorf("%s: found %.40q, want %q", pattern, line[at[0]:at[1]], want)
		}
	}
	for at := 4<<10 - 20; at < 4<<10+20; at++ { // at every place where two pieces meet
		line := strings.Repeat("a", at) + "needle" + strings.Repeat("a", 9<<10)
		if got, _ := NewMatcher(t.Context(), regexp.MustCompile("needle")).Find(line); got == nil || got[0] != at {
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
	if _, err := Matching(NewMatcher(ctx, regexp.MustCompile(costly)), lines, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the match took %v", took)
	}
}

// A search that takes too long ends by itself, and its results so far stay.
func TestSearchEndsAfterItsTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := WithMatchTime(t.Context())
		defer cancel()
		time.Sleep(MatchTime)
		synctest.Wait()
		if _, err := NewMatcher(ctx, regexp.MustCompile("a")).Find("a"); !errors.Is(err, ErrLongMatch) {
			t.Error(err)
		}
	})
}
