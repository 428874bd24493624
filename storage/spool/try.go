package spool

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

// Try finds out whether dir can be the spool of remote: whether it can be
// written to, and is that of no other archive. It leaves nothing behind, sends
// nothing and asks remote for nothing but its name.
func Try(dir string, remote storage.Archive) error {
	s := &Spool{dir: filepath.Clean(dir), remote: remote}
	if _, err := os.Stat(filepath.Join(s.dir, remoteFile)); !errors.Is(err, os.ErrNotExist) {
		if err := s.bind(); err != nil {
			return &storage.Error{Op: "open spool", Err: err}
		}
	}
	return fs.Try(filepath.Join(s.dir, "archive"))
}
