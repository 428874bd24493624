package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/storage"
)

func otherCases() []testCase {
	return []testCase{
		{"ErrorsAreTyped", "All methods return an *Error, which names the key.", errorsTyped},
		{"ContextIsObeyed", "When the context is done before a method begins, it does nothing and its error wraps the context's.", contextObeyed},
		{"ZeroKeyIsRefused", "The zero Key is an error everywhere but in List.", zeroKey},
		{"NothingIsKeptThatIsNotThere", "If k does not exist, Kept returns nil.", keptNothing},
		{"RemoveRemoves", "After nil, k does not exist. A missing k is not an error. Other keys do not change.", removeRemoves},
		{"LocationsDiffer", "Location returns a different place for each key.", locations},
	}
}

func errorsTyped(ctx context.Context, p *place) error {
	k := key("s/f")
	if err := p.a.Create(ctx, k, blob(1, 5)); err != nil {
		return err
	}
	_, absent := p.read(ctx, p.a, key("s/none"))
	for _, c := range []struct {
		what string
		key  storage.Key
		err  error
	}{
		{"create", k, p.a.Create(ctx, k, blob(1, 5))},
		{"append", key("s/log"), p.a.Append(ctx, key("s/log"), 9, blob(1, 5))},
		{"open", key("s/none"), absent},
	} {
		var typed *storage.Error
		if !errors.As(c.err, &typed) {
			return fmt.Errorf("%s: %T (%v) is no *storage.Error", c.what, c.err, c.err)
		}
		if typed.Key != c.key || typed.Op == "" {
			return fmt.Errorf("%s: the error names %q %q", c.what, typed.Op, typed.Key)
		}
	}
	return nil
}

func contextObeyed(ctx context.Context, p *place) error {
	done, cancel := context.WithCancel(ctx)
	cancel()
	made, log := key("s/made"), key("s/log")
	if err := errors.Join(p.a.Create(ctx, made, blob(1, 5)), p.a.Append(ctx, log, 0, blob(2, 5))); err != nil {
		return err
	}
	var listed []error
	for _, err := range p.a.List(done, storage.Key{}) {
		listed = append(listed, err)
	}
	if len(listed) != 1 {
		return fmt.Errorf("the listing yielded %d times, want the error alone", len(listed))
	}
	r, err := p.a.Open(done, made, 0, -1)
	if err == nil {
		return errors.Join(errors.New("opening it is no error"), r.Close())
	}
	errs := []error{err, listed[0], p.a.Create(done, key("s/new"), blob(1, 5)), p.a.Append(done, log, blob(2, 5).Size(), blob(3, 5))}
	for i, err := range append(errs, p.optional(done, made)...) {
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("call %d: %v does not wrap context.Canceled", i+1, err)
		}
		if err := typed(err); err != nil {
			return err
		}
	}
	got, err := p.list(ctx, p.b, storage.Key{})
	if err != nil {
		return err
	}
	if !slices.Equal(got, []string{"s/log", "s/made"}) {
		return fmt.Errorf("there is now %q", got)
	}
	return p.holds(ctx, log, bytesOf(blob(2, 5)))
}

func zeroKey(ctx context.Context, p *place) error {
	var zero storage.Key
	r, err := p.a.Open(ctx, zero, 0, -1)
	if err == nil {
		return errors.Join(errors.New("opening it is no error"), r.Close())
	}
	errs := []error{err, p.a.Create(ctx, zero, blob(1, 5)), p.a.Append(ctx, zero, 0, blob(1, 5))}
	for i, err := range append(errs, p.optional(ctx, zero)...) {
		if err == nil {
			return fmt.Errorf("call %d: no error", i+1)
		}
		if err := typed(err); err != nil {
			return err
		}
	}
	return nil
}

// optional calls the optional methods of an archive.
func (p *place) optional(ctx context.Context, k storage.Key) []error {
	var errs []error
	if r, ok := p.a.(storage.Remover); ok {
		errs = append(errs, r.Remove(ctx, k))
	}
	if r, ok := p.a.(storage.Keeper); ok {
		errs = append(errs, r.Kept(ctx, k))
	}
	return errs
}

// typed returns an error if an archive's error has the wrong type.
func typed(err error) error {
	var have *storage.Error
	if !errors.As(err, &have) {
		return fmt.Errorf("%T (%v) is no *storage.Error", err, err)
	}
	return nil
}

func keptNothing(ctx context.Context, p *place) error {
	keeper, ok := p.a.(storage.Keeper)
	if !ok {
		return nil // optional for an archive
	}
	if err := p.a.Create(ctx, key("s/fi"), blob(1, 5)); err != nil {
		return err
	}
	for _, s := range []string{"s/f", "s/none", "s", "t/none"} {
		if err := keeper.Kept(ctx, key(s)); err != nil {
			return fmt.Errorf("%s, which does not exist: %w", s, err)
		}
	}
	return nil
}

func removeRemoves(ctx context.Context, p *place) error {
	rm, ok := p.a.(storage.Remover)
	if !ok {
		return nil // optional for an archive
	}
	gone, stays, b := key("s/gone"), key("s/stays"), blob(1, 50)
	for _, k := range []storage.Key{gone, stays, key("t/alone")} {
		if err := p.a.Create(ctx, k, b); err != nil {
			return err
		}
	}
	for _, k := range []storage.Key{gone, key("t/alone"), gone, key("s/never"), key("never/never")} {
		if err := rm.Remove(ctx, k); err != nil {
			return err
		}
		if _, err := p.read(ctx, p.b, k); !errors.Is(err, storage.ErrNotExist) {
			return fmt.Errorf("%s after Remove: %v, want ErrNotExist", k, err)
		}
	}
	if got, err := p.list(ctx, p.b, storage.Key{}); err != nil || !slices.Equal(got, []string{"s/stays"}) {
		return fmt.Errorf("there is now %q, %v", got, err)
	}
	if err := p.b.Create(ctx, gone, blob(2, 50)); err != nil {
		return fmt.Errorf("creating a removed key: %w", err)
	}
	return errors.Join(p.holds(ctx, gone, bytesOf(blob(2, 50))), p.holds(ctx, stays, bytesOf(b)))
}

func locations(ctx context.Context, p *place) error {
	l, ok := p.a.(storage.Locator)
	if !ok {
		return nil // optional for an archive
	}
	seen := map[string]storage.Key{}
	for _, s := range []string{"a", "a/b", "a-b", "a%2fb", "b/a"} {
		at := l.Location(key(s))
		if at == "" {
			return fmt.Errorf("%s is nowhere", s)
		}
		if other, ok := seen[at]; ok {
			return fmt.Errorf("%s and %s are both at %s", s, other, at)
		}
		seen[at] = key(s)
	}
	if got, err := p.list(ctx, p.a, storage.Key{}); err != nil || len(got) > 0 {
		return fmt.Errorf("asking for locations made %q, %v", got, err)
	}
	return nil
}
