package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
)

// exported is a line of the manifest of an export of all sessions.
type exported struct {
	Session string `json:"session"`
	File    string `json:"file"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
	Head    string `json:"manifest_head,omitempty"` // of the session, as it was exported
}

// exportManifest is the file of an export that says what is in it, and exportHeads
// that which proves it.
const (
	exportManifest = "manifest.jsonl"
	exportHeads    = "heads.jsonl"
)

// exportAll writes every session into a folder, which must be empty or not there,
// and last the manifest, so that an export that was cut short has none.
func (a *app) exportAll(cmd *cobra.Command, archive storage.Archive, dir string, f storage.ExportFormat) error {
	ctx := cmd.Context()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		return errors.Join(err, &usageError{errors.New(dir + " is not empty")})
	}
	var heads, lines bytes.Buffer
	if err := storage.WriteHeads(ctx, archive, &heads); err != nil {
		return &brokenArchive{err}
	}
	for info, err := range storage.Sessions(ctx, archive) {
		if err != nil {
			return &brokenArchive{err}
		}
		a.progress.start("exporting " + info.Dir)
		line, err := a.exportOne(cmd, archive, dir, info, f)
		if err != nil {
			return err
		}
		raw, err := json.Marshal(line)
		if err != nil {
			return err
		}
		lines.Write(append(raw, '\n'))
	}
	if heads.Len() > 0 {
		if err := writeFile(filepath.Join(dir, exportHeads), heads.Bytes()); err != nil {
			return err
		}
	}
	return writeFile(filepath.Join(dir, exportManifest), lines.Bytes())
}

func (a *app) exportOne(cmd *cobra.Command, archive storage.Archive, dir string, info storage.SessionInfo, f storage.ExportFormat) (exported, error) {
	ctx := cmd.Context()
	s, err := storage.OpenDir(ctx, archive, info.Dir)
	if err != nil {
		return exported{}, &brokenArchive{err}
	}
	if err := a.accessed(cmd, s, "export", "--all"); err != nil {
		return exported{}, err
	}
	var b bytes.Buffer
	if err := s.Export(ctx, &b, f, storage.ExportOptions{}); err != nil {
		return exported{}, &brokenArchive{err}
	}
	sum := sha256.Sum256(b.Bytes())
	line := exported{cmp.Or(info.ID, info.Dir), exportName(info.Dir, f), b.Len(), hex.EncodeToString(sum[:]), s.ManifestHead()}
	return line, writeFile(filepath.Join(dir, line.File), b.Bytes())
}

// exportName is the file of a session. No folder of one begins with an underscore, so
// that what would be called as the manifest or the heads are has a name of its own.
func exportName(dir string, f storage.ExportFormat) string {
	name := dir + "." + string(f)
	if name == exportManifest || name == exportHeads {
		return "_" + name
	}
	return name
}
