package spool

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

// Try tests whether dir can be the spool of remote: it must be writable and
// belong to no other archive. It leaves nothing behind and makes no request to
// remote.
func Try(dir string, remote storage.Archive) error {
	s := &Spool{dir: filepath.Clean(dir), remote: remote}
	if _, err := os.Stat(filepath.Join(s.dir, remoteFile)); !errors.Is(err, os.ErrNotExist) {
		if err := s.bind(); err != nil {
			return &storage.Error{Op: "open spool", Err: err}
		}
	}
	return fs.Try(filepath.Join(s.dir, "archive"))
}
