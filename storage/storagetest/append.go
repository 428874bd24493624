package storagetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

func appendCases() []testCase {
	return []testCase{
		{"AppendAddsToTheEnd", "Append adds b to the end of k; a key that does not exist holds 0 bytes.", appendAdds},
		{"AppendChecksTheLength", "If k has another length, nothing is written and the error is ErrSeq.", appendChecks},
		{"AppendHasOneWinner", "Of any number of Appends with one seq at once exactly one returns nil.", appendRace},
		{"AppendLosesNothing", "Previous bytes never change.", appendCrowd},
	}
}

func appendAdds(ctx context.Context, p *place) error {
	k, want := key("s/events.jsonl"), ""
	for i, size := range []int{10, 1, 0, 100_000, 20} {
		b := blob(i, size)
		if err := p.both()[i%2].Append(ctx, k, int64(len(want)), b); err != nil {
			return err
		}
		want += bytesOf(b)
		if err := p.holds(ctx, k, want); err != nil {
			return err
		}
	}
	return nil
}

func appendChecks(ctx context.Context, p *place) error {
	k, first := key("s/events.jsonl"), blob(1, 50)
	if err := p.wantSeq(ctx, k, 5); err != nil {
		return err
	}
	if _, err := p.read(ctx, p.a, k); !errors.Is(err, storage.ErrNotExist) {
		return fmt.Errorf("the refused Append left something: %v", err)
	}
	if err := p.a.Append(ctx, k, 0, first); err != nil {
		return err
	}
	for _, seq := range []int64{0, first.Size() - 1, first.Size() + 1, 1 << 40, -1} {
		if err := p.wantSeq(ctx, k, seq); err != nil {
			return err
		}
	}
	return p.holds(ctx, k, bytesOf(first))
}

func (p *place) wantSeq(ctx context.Context, k storage.Key, seq int64) error {
	for _, a := range p.both() {
		if err := a.Append(ctx, k, seq, blob(9, 10)); !errors.Is(err, storage.ErrSeq) {
			return fmt.Errorf("append at %d: %v, want ErrSeq", seq, err)
		}
	}
	return nil
}

func appendRace(ctx context.Context, p *place) error {
	k, want := key("s/manifest.jsonl"), ""
	for range 5 {
		won, err := race(p, storage.ErrSeq, func(a storage.Archive, i int) error {
			return a.Append(ctx, k, int64(len(want)), blob(i, 300))
		})
		if err != nil {
			return err
		}
		want += bytesOf(blob(won, 300))
		if err := p.holds(ctx, k, want); err != nil {
			return err
		}
	}
	return nil
}

// appendCrowd runs several writers that append their lines at the current end.
func appendCrowd(ctx context.Context, p *place) error {
	const writers, lines = 6, 6
	names := [writers]redact.Text{redact.Lit("a\n"), redact.Lit("bb\n"), redact.Lit("ccc\n"),
		redact.Lit("dddd\n"), redact.Lit("eeeee\n"), redact.Lit("ffffff\n")}
	k := key("s/journal.jsonl")
	errs := make([]error, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			have := int64(0)
			for range lines {
				if have, errs[i] = p.appendAt(ctx, p.both()[i%2], k, have, storage.Redacted(names[i])); errs[i] != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	got, err := p.read(ctx, p.a, k)
	if err != nil {
		return err
	}
	seen := map[string]int{}
	for line := range strings.SplitAfterSeq(got, "\n") {
		seen[line]++
	}
	want := map[string]int{"": 1} // text after the last line feed
	for _, name := range names {
		want[name.String()] = lines
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		return fmt.Errorf("lines (-want +got):\n%s", diff)
	}
	return nil
}

// appendAt appends at the end, which is at or after have, and returns its offset.
// It reads only from have, because a log may have an object for each line.
func (p *place) appendAt(ctx context.Context, a storage.Archive, k storage.Key, have int64, b storage.Blob) (int64, error) {
	for {
		more, err := p.readRange(ctx, a, k, have, -1)
		if err != nil && !errors.Is(err, storage.ErrNotExist) {
			return have, err
		}
		have += int64(len(more))
		err = a.Append(ctx, k, have, b)
		if !errors.Is(err, storage.ErrSeq) {
			return have, err
		}
	}
}
