package crypt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/storage"
)

const (
	suffix = ".age"
	digits = 20
)

// fileKey returns the object key of a file. It returns an error for a key whose
// last segment looks like the name of a piece.
func fileKey(k storage.Key) (storage.Key, error) {
	if _, ok := parseStart(k.Base()); ok {
		return storage.Key{}, &storage.KeyError{Text: k.String(), Reason: "its last segment is a number of 20 digits, which names a piece of an encrypted log"}
	}
	return storage.ParseKey(k.String() + suffix)
}

// pieceKey returns the object key of the piece of a log that begins at start.
func pieceKey(k storage.Key, start int64) (storage.Key, error) {
	return storage.ParseKey(fmt.Sprintf("%s/%0*d%s", k, digits, start, suffix))
}

func parseStart(name string) (int64, bool) {
	if len(name) != digits {
		return 0, false
	}
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && n >= 0 && name[0] != '+'
}

// parse returns the file, or the log and the start of the piece, of an object key.
// It returns false for an object of another program.
func parse(inner storage.Key) (k storage.Key, start int64, piece, ok bool) {
	name, ok := strings.CutSuffix(inner.String(), suffix)
	if !ok {
		return storage.Key{}, 0, false, false
	}
	if at := strings.LastIndexByte(name, '/'); at > 0 {
		if start, piece = parseStart(name[at+1:]); piece {
			name = name[:at]
		}
	}
	k, err := storage.ParseKey(name)
	return k, start, piece, err == nil
}
