package agentloop

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// least is the minimum share of a request that must be the same bytes as the previous
// request.
const least = 0.95

// Check compares the figures with the promises.
func (f Figures) Check(t *testing.T, s SDK) {
	t.Helper()
	if f.Refused > 0 || f.Above > 0 {
		t.Errorf("%d requests refused, %d above the window", f.Refused, f.Above)
	}
	if f.Least < least {
		t.Errorf("a request repeats only %.1f %% of the bytes of the previous request: %s", 100*f.Least, f.Where)
	}
	if f.Compactions == 0 || f.Summaries > f.Compactions {
		t.Errorf("%d compactions, %d with a summary", f.Compactions, f.Summaries)
	}
	if f.Forgot > 0 && !s.Forgets {
		t.Errorf("after %d restarts no earlier edit was applied again", f.Forgot)
	}
	if f.Recalls == 0 || f.Seen > 0 {
		t.Errorf("%d calls of the recall tool, of which the SDK's own loop saw some in %d requests", f.Recalls, f.Seen)
	}
}

// Test runs a short loop for each SDK, plain and streaming, and prints the figures;
// with -short only streaming, with COMPACT_SOAK long loops from 8k to 128k.
func Test(t *testing.T, sdks ...SDK) {
	fmt.Println(Header)
	for _, s := range sdks {
		for _, stream := range []bool{false, true} {
			if stream && !s.Streams || !stream && s.Streams && testing.Short() {
				continue
			}
			name := s.Name
			if stream {
				name += ", streaming"
			}
			t.Run(strings.ReplaceAll(name, "/", "."), func(t *testing.T) { // one level for -run, even if the name has a slash
				for _, l := range loops(stream) {
					t.Run(fmt.Sprint(l.Window), func(t *testing.T) {
						f := l.Run(t, s)
						fmt.Println(f.Row(name, l.Window))
						f.Check(t, s)
					})
				}
			})
		}
	}
}

func loops(stream bool) []Loop {
	if os.Getenv("COMPACT_SOAK") == "" {
		return []Loop{{Window: 8_000, Steps: 60, Stream: stream}}
	}
	return []Loop{
		{Window: 8_000, Steps: 60, Stream: stream}, {Window: 16_000, Steps: 300, Stream: stream},
		{Window: 32_000, Steps: 300, Stream: stream}, {Window: 128_000, Steps: 300, Stream: stream},
	}
}
