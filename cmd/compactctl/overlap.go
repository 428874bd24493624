package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/s3"
)

// overlap returns an error if two archives are one, or if one is inside of the other: its
// sessions would then be taken for foreign files of the other, and a copy would copy
// itself.
func overlap(src, dst string) error {
	a, b := whereabouts(src), whereabouts(dst)
	switch {
	case a == b:
		return &usageError{fmt.Errorf("%s and %s are the same archive", printable(src), printable(dst))}
	case strings.HasPrefix(a, b) || strings.HasPrefix(b, a):
		return &usageError{fmt.Errorf("%s and %s are inside of one another: name a place outside", printable(src), printable(dst))}
	}
	return nil
}

// readFor is readArchive for a command that writes to out, which must not be inside of the
// archive: the output would be a foreign file there, or damage the record.
func (a *app) readFor(cmd *cobra.Command, out string) (storage.Archive, error) {
	archive, cfg, err := a.openWith(cmd, configs.OpenArchiveReadOnly)
	if err == nil && out != "" && out != "-" && cfg.Storage.Adapter == "fs" && strings.HasPrefix(whereabouts(out), whereabouts(cfg.Storage.Path)) {
		return nil, &usageError{fmt.Errorf("--out %s is inside of the archive: name a place outside", printable(out))}
	}
	return archive, err
}

// whereabouts returns the place of an archive with a slash at its end, without symbolic
// links as far as it exists.
func whereabouts(archive string) string {
	if bucket, prefix, ok := s3.ParseURL(archive); ok {
		return strings.TrimRight("s3://"+bucket+"/"+prefix, "/") + "/"
	}
	folder, err := fs.Folder(archive)
	if err != nil {
		folder = archive
	}
	if full, err := filepath.Abs(folder); err == nil {
		folder = full
	}
	rest := ""
	for at := folder; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			folder = filepath.Join(real, rest)
			break
		}
		if at == filepath.Dir(at) {
			break
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
	return strings.TrimRight(filepath.ToSlash(folder), "/") + "/"
}
