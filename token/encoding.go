package token

import (
	"errors"
	"fmt"
	"sync"
)

// ErrUnknownEncoding means that [ForEncoding] knows no encoding of that name, or
// that the encoding's package is not imported.
var ErrUnknownEncoding = errors.New("token: unknown encoding")

var registry struct {
	sync.Mutex
	encodings map[string]*registered
}

// registered is an encoding of another package. Each encoding has its own lock. The lock is held
// while the encoding is opened, so that callers of other encodings do not wait.
type registered struct {
	sync.Mutex
	open   func() (Counter, error)
	opened Counter
}

// Register makes an encoding available to [ForEncoding]. ForEncoding calls open
// when the encoding is first needed, and again only if that failed. Register is
// for init functions of packages that bring an encoding. It panics if the name is
// registered already. A registration of a built-in encoding has no effect.
func Register(name string, open func() (Counter, error)) {
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.encodings[name]; taken {
		panic("token: encoding " + name + " registered twice")
	}
	if registry.encodings == nil {
		registry.encodings = map[string]*registered{}
	}
	registry.encodings[name] = &registered{open: open}
}

// ForEncoding returns the counter of an encoding, the same one at every call.
// cl100k_base, o200k_base and o200k_harmony are exact and built in; they are
// unpacked by the first count or by [Load]. p50k_base, p50k_edit, r50k_base and
// gpt2 need an import of token/tiktoken for its side effect; without it, the
// error wraps [ErrUnknownEncoding].
func ForEncoding(name string) (Counter, error) {
	if c := builtin(name); c != nil {
		return c, nil
	}
	registry.Lock()
	r := registry.encodings[name]
	registry.Unlock()
	if r == nil {
		return nil, fmt.Errorf("%w %q (encodings older than cl100k_base need an import of token/tiktoken)", ErrUnknownEncoding, name)
	}
	return r.counter(name)
}

func (r *registered) counter(name string) (Counter, error) {
	r.Lock()
	defer r.Unlock()
	if r.opened != nil {
		return r.opened, nil
	}
	c, err := r.open()
	if err != nil {
		return nil, fmt.Errorf("token: encoding %s: %w", name, err)
	}
	r.opened = c
	return c, nil
}
