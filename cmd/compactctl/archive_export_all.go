package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// exported is a line of the manifest of an export of all sessions. A line without a
// session describes a file with proofs of sessions.
type exported struct {
	Session string `json:"session,omitempty"`
	File    string `json:"file"`
	Bytes   int    `json:"bytes"`
	SHA256  string `json:"sha256"`
	Head    string `json:"manifest_head,omitempty"` // head of the session at the time of the export
}

// exportManifest is the file that lists the content of an export, and exportHeads the
// file with the heads for --heads. exportBeside, with the extension of the format, is
// the file with the records beside the sessions.
const (
	exportManifest = "manifest.jsonl"
	exportHeads    = "heads.jsonl"
	exportBeside   = "_beside"
)

// exportAll writes every session into a folder, which must be empty or missing. It
// writes the manifest last, so that an interrupted export has none.
func (a *app) exportAll(cmd *cobra.Command, archive storage.Archive, dir string, f record.ExportFormat) error {
	ctx := cmd.Context()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
		return errors.Join(err, &usageError{errors.New(dir + " is not empty: name another folder, or remove this one if it is the rest of an interrupted export (without manifest.jsonl)")})
	}
	known, err := tombstones(ctx, archive)
	if err != nil {
		return err
	}
	all, err := exportProof(ctx, archive, dir, f)
	if err != nil {
		return err
	}
	for info, err := range record.Sessions(ctx, archive) {
		if err != nil {
			return &brokenArchive{err}
		}
		a.progress.start("exporting " + info.Dir)
		line, err := a.exportOne(cmd, archive, dir, info, f)
		if err != nil {
			return err
		}
		all = append(all, line)
	}
	if now, err := tombstones(ctx, archive); err != nil || now != known {
		return errors.Join(err, errors.New("a session was erased during the export, so the heads do not match it; export again"))
	}
	var lines bytes.Buffer
	for _, line := range all {
		raw, err := json.Marshal(line)
		if err != nil {
			return err
		}
		lines.Write(append(raw, '\n'))
	}
	return writeFile(filepath.Join(dir, exportManifest), lines.Bytes())
}

// tombstones counts the tombstones of an archive.
func tombstones(ctx context.Context, archive storage.Archive) (n int, err error) {
	for _, err := range record.Tombstones(ctx, archive) {
		if err != nil {
			return 0, &brokenArchive{err}
		}
		n++
	}
	return n, nil
}

// exportProof writes the heads and the records beside the sessions.
func exportProof(ctx context.Context, archive storage.Archive, dir string, f record.ExportFormat) (all []exported, err error) {
	var heads, beside bytes.Buffer
	if err := record.WriteHeads(ctx, archive, &heads); err != nil {
		return nil, &brokenArchive{err}
	}
	if _, err := record.ExportBeside(ctx, archive, &beside, f); err != nil {
		return nil, &brokenArchive{err}
	}
	for _, file := range []struct {
		name string
		data []byte
	}{{exportHeads, heads.Bytes()}, {exportBeside + "." + string(f), beside.Bytes()}} {
		if len(file.data) == 0 {
			continue
		}
		all = append(all, exportedAs(file.name, file.data))
		if err := writeFile(filepath.Join(dir, file.name), file.data); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func exportedAs(name string, data []byte) exported {
	sum := sha256.Sum256(data)
	return exported{File: name, Bytes: len(data), SHA256: hex.EncodeToString(sum[:])}
}

func (a *app) exportOne(cmd *cobra.Command, archive storage.Archive, dir string, info record.SessionInfo, f record.ExportFormat) (exported, error) {
	ctx := cmd.Context()
	s, err := record.OpenDir(ctx, archive, info.Dir)
	if err != nil {
		return exported{}, &brokenArchive{err}
	}
	if err := a.accessed(cmd, s, "export", "--all"); err != nil {
		return exported{}, err
	}
	b, err := exportWhole(ctx, s, f, record.ExportOptions{})
	if err != nil {
		return exported{}, err
	}
	line := exportedAs(exportName(info.Dir, f), b.Bytes())
	line.Session, line.Head = cmp.Or(info.ID, info.Dir), s.ManifestHead()
	return line, writeFile(filepath.Join(dir, line.File), b.Bytes())
}

// exportName returns the file name of a session. A name that equals the name of the
// manifest or of the heads gets an underscore in front. No folder of a session begins
// with an underscore.
func exportName(dir string, f record.ExportFormat) string {
	name := dir + "." + string(f)
	if name == exportManifest || name == exportHeads {
		return "_" + name
	}
	return name
}
