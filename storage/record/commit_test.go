package record_test

import (
	"errors"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// If several processes write steps at once, a process may store a file under a number,
// and another process commits the step of that number.
func TestStepDependsOnTheNamedFiles(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s := session(t, a, "s")
		one, err := s.Transcript(t.Context(), 1, lines("one", 2))
		must(t, err)
		two, err := s.Transcript(t.Context(), 2, lines("two", 2))
		must(t, err)
		left, err := s.Transcript(t.Context(), 1, lines("left", 2))
		must(t, err)
		ledger := text(`{"v":1}`)
		must(t, second(s.Commit(t.Context(), 1, ledger, two)))
		if err := second(s.Commit(t.Context(), 1, ledger, one)); !errors.Is(err, storage.ErrExists) {
			t.Errorf("commit of a number that another step has: %v, want ErrExists", err)
		}
		sum, err := s.Summary(t.Context(), 2, text(`{}`))
		must(t, err)
		if err := second(s.Commit(t.Context(), 2, ledger, sum)); !errors.Is(err, record.ErrStep) {
			t.Errorf("commit of a step without a transcript: %v, want ErrStep", err)
		}
		foreign, err := session(t, a, "other").Transcript(t.Context(), 2, lines("foreign", 2))
		must(t, err)
		if err := second(s.Commit(t.Context(), 2, ledger, foreign, sum)); !errors.Is(err, record.ErrStep) {
			t.Errorf("commit of a step with the transcript of another session: %v, want ErrStep", err)
		}
		must(t, second(s.Commit(t.Context(), 2, ledger, one, sum)))
		r := wantOK(t, a, "s")
		if got := r.Abandoned(); len(got) != 1 || got[0] != left.Key.Base() {
			t.Errorf("abandoned are %q, want %s alone", got, left.Key.Base())
		}
	})
}
