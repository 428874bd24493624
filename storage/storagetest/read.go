package storagetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/storage"
)

func readCases() []testCase {
	return []testCase{
		{"OpenReadsARange", "Open returns a reader of at most n bytes of k from off on; n < 0 means to the end.", openRange},
		{"OpenWantsSomething", "The error for a missing key is ErrNotExist.", openAbsent},
		{"OpenBehindTheEnd", "An off at or after the end gives a reader of no bytes; a negative off is an error.", openBehind},
		{"OpenWhileAppending", "A reader of a key that is appended to gives bytes of k in their order, at least those that were there when Open returned.", openGrowing},
		{"OpenKnowsTheKind", "OpenFile is Open of a file, OpenLog is Open of a log; size is the size of the log at that time.", openKind},
		{"ListYieldsBelowPrefix", "List yields every key that is prefix or lies below it, in the byte order of keys.", listOrder},
		{"ListOfNothing", "An empty result is not an error.", listNothing},
		{"ListStops", "List stops when its caller does.", listStops},
		{"ListTellsSizes", "Every write that was acknowledged before List began is yielded, with its size.", listSizes},
		{"ListTellsWhen", "Modified is the time of the last write to the key, or the zero time if the archive does not know it.", listTimes},
		{"ListYieldsThemAll", "List yields every key, however many there are.", listMany},
	}
}

func openRange(ctx context.Context, p *place) error {
	k, b := key("s/t.jsonl"), blob(5, 100_000)
	if err := p.a.Create(ctx, k, b); err != nil {
		return err
	}
	whole := bytesOf(b)
	size := int64(len(whole))
	for _, r := range [][2]int64{{0, -1}, {0, 0}, {0, 1}, {1, 1}, {99, 4096}, {size - 1, 1}, {size - 1, 50}, {0, size}, {7, size * 2}, {50_000, -1}} {
		got, err := p.readRange(ctx, p.b, k, r[0], r[1])
		if err != nil {
			return err
		}
		want := whole[r[0]:]
		if r[1] >= 0 {
			want = want[:min(r[1], int64(len(want)))]
		}
		if got != want {
			return fmt.Errorf("range %v gives %s, want %s", r, short(got), short(want))
		}
	}
	return nil
}

// openKind checks the methods of a KindOpener.
func openKind(ctx context.Context, p *place) error {
	a, ok := p.b.(storage.KindOpener)
	if !ok {
		return nil
	}
	file, log := key("s/file"), key("s/log")
	if _, _, err := a.OpenLog(ctx, log, 0, -1); !errors.Is(err, storage.ErrNotExist) {
		return fmt.Errorf("OpenLog of a missing log: %v, want ErrNotExist", err)
	}
	whole, first, second := blob(1, 900), blob(2, 500), blob(3, 400)
	err := errors.Join(p.a.Create(ctx, file, whole), p.a.Append(ctx, log, 0, first), p.a.Append(ctx, log, first.Size(), second))
	if err != nil {
		return err
	}
	if _, err := a.OpenFile(ctx, key("s/none"), 0, -1); !errors.Is(err, storage.ErrNotExist) {
		return fmt.Errorf("OpenFile of a missing file: %v, want ErrNotExist", err)
	}
	r, err := a.OpenFile(ctx, file, 10, 20)
	if err != nil {
		return err
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil || string(got) != bytesOf(whole)[10:30] {
		return fmt.Errorf("OpenFile: %s, %w", short(string(got)), err)
	}
	r, size, err := a.OpenLog(ctx, log, first.Size()-50, 100)
	if err != nil {
		return err
	}
	got, err = io.ReadAll(r)
	want := (bytesOf(first) + bytesOf(second))[first.Size()-50:][:100]
	if err := errors.Join(err, r.Close()); err != nil || string(got) != want || size != first.Size()+second.Size() {
		return fmt.Errorf("OpenLog: %s of %d bytes, want %s of %d, %w", short(string(got)), size, short(want), first.Size()+second.Size(), err)
	}
	return nil
}

func openAbsent(ctx context.Context, p *place) error {
	if err := p.a.Create(ctx, key("s/file"), blob(1, 9)); err != nil {
		return err
	}
	for _, s := range []string{"nothing", "s/nothing", "s", "s/file/below"} {
		if _, err := p.read(ctx, p.a, key(s)); !errors.Is(err, storage.ErrNotExist) {
			return fmt.Errorf("%s: %v, want ErrNotExist", s, err)
		}
	}
	return nil
}

func openBehind(ctx context.Context, p *place) error {
	k, b := key("s/file"), blob(1, 90)
	if err := p.a.Create(ctx, k, b); err != nil {
		return err
	}
	for _, off := range []int64{b.Size(), b.Size() + 1, 1 << 40} {
		for _, n := range []int64{-1, 0, 10} {
			got, err := p.readRange(ctx, p.a, k, off, n)
			if err != nil || got != "" {
				return fmt.Errorf("offset %d, n %d: %s, %v", off, n, short(got), err)
			}
		}
	}
	if r, err := p.a.Open(ctx, k, -1, 5); err == nil {
		return errors.Join(errors.New("a negative offset is accepted"), r.Close())
	}
	return nil
}

func openGrowing(ctx context.Context, p *place) error {
	k, first, second := key("s/events.jsonl"), blob(1, 70_000), blob(2, 70_000)
	if err := p.a.Append(ctx, k, 0, first); err != nil {
		return err
	}
	r, err := p.b.Open(ctx, k, 0, -1)
	if err != nil {
		return err
	}
	if err := p.a.Append(ctx, k, first.Size(), second); err != nil {
		return errors.Join(err, r.Close())
	}
	got, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	if !strings.HasPrefix(string(got), bytesOf(first)) {
		return fmt.Errorf("the reader gave %s", short(string(got)))
	}
	if !strings.HasPrefix(bytesOf(first)+bytesOf(second), string(got)) {
		return errors.New("the reader gave bytes that are not in the key")
	}
	return nil
}

func (p *place) list(ctx context.Context, a storage.Archive, prefix storage.Key) ([]string, error) {
	var out []string
	for info, err := range a.List(ctx, prefix) {
		if err != nil {
			return out, err
		}
		out = append(out, info.Key.String())
	}
	return out, nil
}

func listOrder(ctx context.Context, p *place) error {
	for _, s := range []string{"b", "ab/x", "a/y/z", "a-b/x", "a/x", "a.b/x", "a/x-1", "a%2f/x", "a~b/x"} {
		if err := p.a.Create(ctx, key(s), blob(1, 5)); err != nil {
			return err
		}
	}
	for prefix, want := range map[string][]string{
		"":    {"a%2f/x", "a-b/x", "a.b/x", "a/x", "a/x-1", "a/y/z", "ab/x", "a~b/x", "b"},
		"a":   {"a/x", "a/x-1", "a/y/z"},
		"a/x": {"a/x"},
		"a/y": {"a/y/z"},
		"b":   {"b"},
	} {
		var k storage.Key
		if prefix != "" {
			k = key(prefix)
		}
		got, err := p.list(ctx, p.b, k)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("listing %q (-want +got):\n%s", prefix, diff)
		}
	}
	return nil
}

func listNothing(ctx context.Context, p *place) error {
	for _, k := range []storage.Key{{}, key("nothing"), key("nothing/here")} {
		got, err := p.list(ctx, p.a, k)
		if err != nil || len(got) > 0 {
			return fmt.Errorf("listing %q of an empty place: %v, %v", k, got, err)
		}
	}
	return nil
}

func listStops(ctx context.Context, p *place) error {
	for i := range 5 {
		if err := p.a.Create(ctx, key(fmt.Sprintf("s%d/f", i)), blob(i, 5)); err != nil {
			return err
		}
	}
	n := 0
	for _, err := range p.a.List(ctx, storage.Key{}) {
		if err != nil {
			return err
		}
		if n++; n == 2 {
			break // an iterator that continues now panics
		}
	}
	if n != 2 {
		return fmt.Errorf("%d of 5 keys yielded before the break", n)
	}
	return nil
}

func listSizes(ctx context.Context, p *place) error {
	k, log := key("s/t"), key("s/log")
	if err := p.a.Create(ctx, k, blob(1, 1000)); err != nil {
		return err
	}
	size := int64(0)
	for i := range 3 {
		b := blob(i, 100)
		if err := p.a.Append(ctx, log, size, b); err != nil {
			return err
		}
		size += b.Size()
		got := map[storage.Key]int64{}
		for info, err := range p.b.List(ctx, key("s")) {
			if err != nil {
				return err
			}
			got[info.Key] = info.Size
		}
		want := map[storage.Key]int64{k: blob(1, 1000).Size(), log: size}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("sizes (-want +got):\n%s", diff)
		}
	}
	return nil
}

// clocks is the tolerated difference between this clock and the archive's.
const clocks = 24 * time.Hour

func listTimes(ctx context.Context, p *place) error {
	log := key("s/log")
	if err := errors.Join(p.a.Create(ctx, key("s/f"), blob(1, 5)), p.a.Append(ctx, log, 0, blob(2, 5))); err != nil {
		return err
	}
	before := map[string]time.Time{}
	for info, err := range p.b.List(ctx, storage.Key{}) {
		if err != nil {
			return err
		}
		before[info.Key.String()] = info.Modified
	}
	if err := p.a.Append(ctx, log, blob(2, 5).Size(), blob(3, 5)); err != nil {
		return err
	}
	for info, err := range p.b.List(ctx, storage.Key{}) {
		if err != nil {
			return err
		}
		at := info.Modified
		if !at.IsZero() && time.Since(at).Abs() > clocks || at.Before(before[info.Key.String()]) {
			return fmt.Errorf("%s was written a moment ago, but its time is %s; only the zero time means that the time is not known", info.Key, at)
		}
	}
	return nil
}

// many is more than one page of a listing: buckets list 1,000.
const many = 1_010

func listMany(ctx context.Context, p *place) error {
	const atOnce = 16
	errs := make(chan error, atOnce)
	for w := range atOnce {
		go func() {
			var err error
			for i := w; i < many && err == nil; i += atOnce {
				err = p.a.Create(ctx, key(fmt.Sprintf("s/f-%04d", i)), blob(i, 1))
			}
			errs <- err
		}()
	}
	var all []error
	for range atOnce {
		all = append(all, <-errs)
	}
	if err := errors.Join(all...); err != nil {
		return err
	}
	got, err := p.list(ctx, p.b, key("s"))
	if err != nil {
		return err
	}
	for i := range many {
		if want := fmt.Sprintf("s/f-%04d", i); i >= len(got) || got[i] != want {
			return fmt.Errorf("%d of %d keys were listed; the first that is not is %s", len(got), many, want)
		}
	}
	return nil
}
