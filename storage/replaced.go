package storage

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"strings"
)

// A session that is erased can begin anew under its name, and its files then lie where
// those lay that a Session knows which was opened before. What such a one still has to
// write belongs to what was erased, and must not get into the new session.

// withLife gives the first record of a manifest what tells this session from others of
// its name. It is not always as long: the lines of two such manifests seldom end at the
// same places, where an append of the one would fit the other.
func withLife(first string) string {
	life := rand.Text() + strings.Repeat("-", mathrand.IntN(64))
	return strings.TrimSuffix(first, "}") + `,"life":"` + life + `"}`
}

// follower looks at the lines behind the last one that is known, and sees whether they
// go on from it.
type follower struct {
	head string // hash of the last line that is known
	link bool   // a line was seen that goes on from something,
	same bool   // namely from head
	junk bool   // a whole line was seen that is none of a log
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

// strange reports whether what follows is of another log, or was changed. A write that
// was torn leaves part of a line, and the next writer ends it.
func (f *follower) strange() bool { return f.link && !f.same || !f.link && f.junk }

// replaced returns [ErrErased] where the log that is there is not the one that is known:
// it begins with another line. Of a log that was read from its end that is not known.
func (c *chain) replaced(ctx context.Context) error {
	if c.state.first == "" {
		return nil
	}
	switch first, err := firstLine(ctx, c.a, c.key); {
	case err != nil:
		return err
	case first != c.state.first:
		return &Error{"append", c.key, ErrErased}
	}
	return nil
}

// firstLine returns the hash of the line with which a log begins.
func firstLine(ctx context.Context, a Archive, k Key) (hash string, err error) {
	err = eachLineOfLog(ctx, a, k, 0, func(l rawLine) error {
		hash = hashOf(l.text)
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return hash, err
}
