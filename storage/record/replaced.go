package record

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"strings"

	"github.com/agentcompact/compact/storage"
)

// An erased session can begin again under its name, with files of the same names. A
// Session that was opened before the erase still belongs to the erased session, and
// must not write to the new one.

// lives is the number of possible lengths of a manifest's first line. The length is
// random, so that lines of two manifests with the same name rarely end at the same offset.
// At equal offsets, an append for one manifest would fit the other.
const lives = 1024

// withLife adds a random member to the first record of a manifest, to distinguish this
// session from others with its name.
func withLife(first string) string {
	life := rand.Text() + strings.Repeat("-", mathrand.IntN(lives))
	return strings.TrimSuffix(first, "}") + `,"life":"` + life + `"}`
}

// follower checks whether the lines after the last known one continue it.
type follower struct {
	head string // hash of the last known line
	link bool   // a line with a link was seen
	same bool   // the prev of that line is head
	junk bool   // a complete line without a link was seen
}

func (f *follower) see(l rawLine) {
	if f.link {
		return
	}
	link, ok := parseLink(l.text)
	switch {
	case ok:
		f.link, f.same = true, link.prev == f.head
	case l.ended:
		f.junk = true
	}
}

// strange reports whether the lines belong to another log or were changed. An incomplete
// last line is not strange: a torn write leaves it, and the next writer completes it.
func (f *follower) strange() bool { return f.link && !f.same || !f.link && f.junk }

// replaced returns [ErrErased] if the log begins with another line than the known one.
// If the first line is not known, because only the end of the log was read, it returns nil.
func (c *chain) replaced(ctx context.Context) error {
	if c.state.first == "" {
		return nil
	}
	switch first, err := firstLine(ctx, c.a, c.key); {
	case err != nil:
		return err
	case first != c.state.first:
		return &storage.Error{Op: "append", Key: c.key, Err: ErrErased}
	}
	return nil
}

// firstLine returns the hash of the first line of a log.
func firstLine(ctx context.Context, a storage.Archive, k storage.Key) (hash string, err error) {
	err = eachLineOfLog(ctx, a, k, 0, func(l rawLine) error {
		hash = hashOf(l.text)
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return hash, err
}
