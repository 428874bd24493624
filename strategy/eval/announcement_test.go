package eval

import "testing"

func TestAnnouncementOfTheLastStepIsNotAClaim(t *testing.T) {
	for line, want := range map[string]string{
		"- the last step: let me look at the failed job. — `make` passed": "`make` passed",
		"- the last step: let me look at the failed job.":                 "- the last step: let me look at the failed job.",
		"- `make` failed — said before: “again”":                          "- `make` failed — said before: “again”",
	} {
		if got := withoutAnnouncement(line); got != want {
			t.Errorf("%q became %q, want %q", line, got, want)
		}
	}
}
