package record

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentcompact/compact/storage"
)

// keysName is the log with the ids of the keys that seal an archive's
// fingerprints, beside the sessions. It never holds the keys.
const keysName = "_keys.jsonl"

// keyLine is a line of the log keysName.
type keyLine struct {
	At  time.Time `json:"at"`
	Key string    `json:"key"`
}

// errMoved means that another process has added a key since the list was read.
var errMoved = errors.New("another key was added")

// KeyIDs returns the ids of the keys of an archive, the oldest first, possibly
// none. An id does not reveal its key. A damaged line is left out ([VerifyKeys]).
func KeyIDs(ctx context.Context, a storage.Archive) (ids []string, err error) {
	for line, err := range logLines(ctx, newChain(a, keyOf(keysName), false)) {
		if err != nil {
			return nil, err
		}
		var l struct{ Key string } // without the time, because the time may be the only damaged part
		if json.Unmarshal(line, &l) == nil && l.Key != "" {
			ids = append(ids, l.Key)
		}
	}
	return ids, nil
}

// AddKeyID adds the id of a key, unless enough returns true for the present ids,
// and returns all ids. The check and the addition are atomic.
func AddKeyID(ctx context.Context, a storage.Archive, id string, enough func(ids []string) bool) (ids []string, err error) {
	for attempt := range maxAttempts {
		c := newChain(a, keyOf(keysName), false)
		if _, err := c.refresh(ctx); err != nil {
			return nil, err
		}
		if ids, err = KeyIDs(ctx, a); err != nil || enough(ids) {
			return ids, err
		}
		if err = c.addOnce(ctx, id); !errors.Is(err, errMoved) {
			return append(ids, id), err
		}
		if err := backOff(ctx, attempt); err != nil {
			return nil, err
		}
	}
	return nil, &storage.Error{Op: "append", Key: keyOf(keysName), Err: storage.ErrSeq}
}

// addOnce adds a line if the log has not changed since it was read.
func (c *chain) addOnce(ctx context.Context, id string) error {
	line, _ := json.Marshal(keyLine{time.Now().UTC().Truncate(time.Millisecond), id}) // never fails
	asked := false
	_, err := c.append(ctx, func(facts) ([]string, error) {
		if asked {
			return nil, errMoved
		}
		asked = true
		return []string{string(line)}, nil
	})
	return err
}
