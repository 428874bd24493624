package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A withdrawn message gives neither a constraint nor a goal, and a lifted ban says so.
func TestSummaryOmitsWithdrawnConstraints(t *testing.T) {
	answer := message.Assistant("I read the code and will do so.")
	for name, c := range map[string]struct {
		said      []string
		want, not []string // in the lines of goals and constraints
	}{
		"taken back, and more": {
			[]string{"Fix the flaky test in pkg/queue.go. Keep the public API.", "Instead of finalize call it update, never rename the branch.", "sorry wrong chat. ignore last message. I think the fix in pkg/queue.go can be simpler, please try."},
			[]string{"can be simpler"}, []string{"finalize", "rename", "ignore last message", "wrong chat"},
		},
		"taken back, and nothing else": {
			[]string{"Fix the flaky test in pkg/queue.go.", "Never rename the branch of release.yaml.", "Never mind."},
			[]string{"flaky test"}, []string{"rename"},
		},
		"forgotten": {
			[]string{"Fix the flaky test in pkg/queue.go.", "You must always rename the branch of release.yaml.", "Please disregard my last message."},
			[]string{"flaky test"}, []string{"rename"},
		},
		"not taken back": {
			[]string{"Fix the flaky test in pkg/queue.go.", "Never rename the branch of release.yaml.", "Never mind the typo in the README, but ignore that file in the linter of release.yaml from now on, please."},
			[]string{"Never rename the branch"}, nil,
		},
		"lifted": {
			[]string{"Fix the flaky test, but never touch pkg/legacy.go.", "OK, you may now change pkg/legacy.go."},
			[]string{"never touch pkg/legacy.go.; the user then said “OK, you may now change pkg/legacy.go.” [s3]"}, nil,
		},
		"lifted for another": {
			[]string{"Fix the flaky test, but never touch pkg/legacy.go.", "OK, you may now change pkg/queue.go."},
			[]string{"never touch pkg/legacy.go."}, []string{"the user then said"},
		},
		"forbidden again": {
			[]string{"Fix the flaky test, but never touch pkg/legacy.go.", "You may change pkg/queue.go, but don't touch pkg/legacy.go."},
			[]string{"never touch pkg/legacy.go."}, []string{"the user then said"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var msgs []message.Message
			for _, s := range c.said {
				msgs = append(msgs, message.User(s), answer)
			}
			h := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1})
			var lines []string
			for _, f := range append(h.goals(), h.constraints()...) {
				lines = append(lines, f.Text)
			}
			got := strings.Join(lines, "\n")
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("the summary lacks %q:\n%s", w, got)
				}
			}
			for _, w := range c.not {
				if strings.Contains(got, w) {
					t.Errorf("the summary has %q:\n%s", w, got)
				}
			}
		})
	}
}
