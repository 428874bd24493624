package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

func newArchiveExport(a *app) *cobra.Command {
	var out, format string
	var all bool
	cmd := &cobra.Command{
		Use:   "export SESSION --out FILE|-",
		Short: "Write one session to a file, or all sessions to a folder",
		Long:  aboutArchiveExport,
		Args:  arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if all == (len(args) == 1) {
				return &usageError{fmt.Errorf("name a SESSION, or add --all")}
			}
			if out == "" {
				return &usageError{fmt.Errorf("--out FILE is required; --out - writes to standard output")}
			}
			if all {
				return a.exportEach(cmd, out, format)
			}
			return a.exportNamed(cmd, args[0], out, format)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to `FILE`, - for standard output")
	cmd.Flags().BoolVar(&all, "all", false, "write every session to the folder --out")
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT`: tar.gz or jsonl (default: the one that the ending of the file names, else tar.gz)")
	return cmd
}

// exportNamed writes one session to a file or to standard output.
func (a *app) exportNamed(cmd *cobra.Command, name, out, format string) error {
	f, err := exportFormat(format, out)
	if err != nil {
		return err
	}
	archive, err := a.readFor(cmd, out)
	if err != nil {
		return err
	}
	s, err := openSession(cmd.Context(), archive, a.called(cmd.Context(), archive, name))
	if err != nil {
		return err
	}
	if err := a.accessed(cmd, s, "export", ""); err != nil {
		return err
	}
	a.warnIfPlain(archive)
	a.progress.start("exporting " + name)
	defer a.progress.stop()
	buf, err := exportWhole(cmd.Context(), s, f, record.ExportOptions{Progress: a.progress.at})
	if err != nil {
		return err
	}
	if out == "-" {
		return a.exportHere(buf, f)
	}
	return a.writeFile(out, buf.Bytes())
}

// warnIfPlain warns that the export of an encrypted archive is readable by everybody.
func (a *app) warnIfPlain(archive storage.Archive) {
	if encrypted(archive) {
		a.complain("compactctl", "warning: the archive is encrypted, and an export is not")
	}
}

const aboutArchiveExport = `Export writes every file of a session, its manifest included, as a tar.gz or as one JSONL
file. Unpack the tar.gz into an archive, and archive verify checks it there.

With --all it writes every session to the folder --out, one file for each, and:

  heads.jsonl     the heads
  _beside.tar.gz  the files outside of the sessions (heads, names, tombstones)
  manifest.jsonl  a line for each file with its SHA-256, written last

Unpack all of it into one folder to get an archive that "archive verify --heads
heads.jsonl" verifies. The export of an encrypted archive is not encrypted.`

// exportWhole returns the export of a session. If a scrub changes the session during the
// export, the export begins again.
func exportWhole(ctx context.Context, s *record.Session, f record.ExportFormat, opts record.ExportOptions) (*bytes.Buffer, error) {
	for attempt := 1; ; attempt++ {
		var buf bytes.Buffer
		err := s.Export(ctx, &buf, f, opts)
		if err == nil {
			return &buf, nil
		}
		if !errors.Is(err, record.ErrScrubbed) || attempt == 5 {
			return nil, unfinished(s, err)
		}
	}
}

// exportFormat returns the requested format, or else the format of the file's
// extension.
func exportFormat(format, out string) (record.ExportFormat, error) {
	switch record.ExportFormat(format) {
	case record.ExportTarGz, record.ExportJSONL:
		return record.ExportFormat(format), nil
	case "":
	default:
		return "", &usageError{fmt.Errorf("unknown --format %q: tar.gz or jsonl", format)}
	}
	name := strings.ToLower(filepath.Base(out))
	switch ending := filepath.Ext(name); {
	case ending == ".jsonl":
		return record.ExportJSONL, nil
	case ending == "", ending == ".tgz", strings.HasSuffix(name, ".tar.gz"):
		return record.ExportTarGz, nil
	default:
		return "", &usageError{fmt.Errorf("%s: an export is a .tar.gz or a .jsonl, not a %s; change the name, or set --format", out, ending)}
	}
}

// exportHere writes an export to standard output.
func (a *app) exportHere(buf *bytes.Buffer, f record.ExportFormat) error {
	switch {
	case !isTerminal(a.out):
		_, err := buf.WriteTo(a.out)
		return err
	case f != record.ExportJSONL:
		return &usageError{errors.New("a terminal can't show a .tar.gz: name a file with --out, or add --format jsonl")}
	}
	_, err := a.out.Write(escapeControls(buf.Bytes()))
	return err
}

// exportEach is export --all.
func (a *app) exportEach(cmd *cobra.Command, dir, format string) error {
	f, err := exportFormat(format, "all") // the name of a folder does not determine a format
	if err != nil {
		return err
	}
	archive, err := a.readFor(cmd, dir)
	if err != nil {
		return err
	}
	a.warnIfPlain(archive)
	defer a.progress.stop()
	return a.exportAll(cmd, archive, dir, f)
}
