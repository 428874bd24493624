package record

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"time"

	"github.com/agentcompact/compact/storage"
)

// An ExportFormat is a format for the export of a session.
type ExportFormat string

// The formats of an export.
const (
	// ExportTarGz is the session's folder, unchanged and with the manifest. After
	// unpacking, the folder can be verified.
	ExportTarGz ExportFormat = "tar.gz"
	// ExportJSONL is one JSON object for each line. The first describes the session. Each
	// file begins with {"file":…} and ends with {"end":…,"bytes":…,"sha256":…}. Between
	// them is a {"line":…} with the JSON of each line ({"text":…} for a line that is not
	// JSON, {"base64":…} for one that is not text; "open":true if the last line has no
	// line feed). A line that refers to lines of an earlier file is followed by a
	// {"same":{"line":…}} for each of these lines.
	ExportJSONL ExportFormat = "jsonl"
)

// ExportOptions is for [Session.Export]. The zero value is valid.
type ExportOptions struct {
	// Progress, if not nil, is called from one goroutine with the number of
	// bytes written and the total.
	Progress func(done, total int64)
}

// Export writes the whole session to w, in its state when Export began; logs can be slightly
// newer. The error is [storage.ErrNotExist] for a session without files, [ErrErased] if the
// session is erased in the meantime, and [ErrScrubbed] if it is scrubbed: after such an
// error the bytes written to w are useless, and Export can be called again. It waits for a
// running scrub, up to the lease of a process that died (20 seconds by default). Foreign
// entries ([storage.Info.Foreign]) are left out.
func (s *Session) Export(ctx context.Context, w io.Writer, format ExportFormat, opts ExportOptions) error {
	over := watchOver(s.a, s.dir)
	before, err := over.quiet(ctx)
	if err != nil {
		return err
	}
	files, err := snapshot(ctx, s.a, s.dir, before.facts.scrub)
	if err == nil {
		err = (&exporter{s: s, progress: opts.Progress}).export(ctx, w, format, files)
	}
	err = s.orErased(ctx, "export", err)
	if ctx.Err() == nil && !errors.Is(err, ErrErased) {
		if overtaken, _ := over.overtaken(ctx); overtaken {
			err = &storage.Error{Op: "export", Key: s.dir, Err: over.reason()}
		}
	}
	return storage.Wrap("export", s.dir, err)
}

// ExportBeside writes to w the files beside the sessions that prove them: heads, names,
// tombstones and ids of keys. It returns the number of these files; without any it writes
// nothing. Call it before you export the sessions, and compare [Tombstones] afterwards,
// because the heads do not include sessions that were erased since.
func ExportBeside(ctx context.Context, a storage.Archive, w io.Writer, format ExportFormat) (n int, err error) {
	var files []storage.Info
	for _, name := range []string{erasedName, headsName, keysName, namesName} {
		for info, err := range a.List(ctx, keyOf(name)) {
			if err != nil {
				return 0, err
			}
			if !info.Key.IsZero() {
				files = append(files, info)
			}
		}
	}
	if len(files) == 0 {
		return 0, nil
	}
	return len(files), storage.Wrap("export", storage.Key{}, (&exporter{s: &Session{a: a}}).export(ctx, w, format, files))
}

func (e *exporter) export(ctx context.Context, w io.Writer, format ExportFormat, files []storage.Info) error {
	e.from = e.s.stretches()
	for _, f := range files {
		e.total += f.Size
	}
	switch format {
	case ExportTarGz:
		return e.tarGz(ctx, w, files)
	case ExportJSONL:
		return e.jsonl(ctx, w, files)
	}
	return storage.ErrUnsupported
}

type exporter struct {
	s           *Session
	from        *stretches
	progress    func(done, total int64)
	done, total int64
}

// Write counts the bytes, and reports progress.
func (e *exporter) Write(p []byte) (int, error) {
	e.done += int64(len(p))
	if e.progress != nil {
		e.progress(e.done, e.total)
	}
	return len(p), nil
}

// open reads a file up to its size at the time of the snapshot.
func (e *exporter) open(ctx context.Context, f storage.Info) (io.ReadCloser, error) {
	return e.s.a.Open(ctx, f.Key, 0, f.Size)
}

func (e *exporter) tarGz(ctx context.Context, w io.Writer, files []storage.Info) error {
	zw := gzip.NewWriter(w)
	tw := tar.NewWriter(zw)
	for _, f := range files {
		if err := e.tarFile(ctx, tw, f); err != nil {
			return err
		}
	}
	return errors.Join(tw.Close(), zw.Close())
}

func (e *exporter) tarFile(ctx context.Context, tw *tar.Writer, f storage.Info) error {
	err := tw.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: f.Key.String(), Size: f.Size, Mode: 0o600, ModTime: f.Modified.Truncate(time.Second),
	})
	if err != nil {
		return err
	}
	r, err := e.open(ctx, f)
	if err != nil {
		return err
	}
	n, err := io.Copy(io.MultiWriter(tw, e), &ctxReader{ctx, r})
	if err == nil && n < f.Size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, r.Close())
}
