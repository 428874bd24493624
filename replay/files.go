package replay

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message/formats"
)

// Files returns the files that paths name, in order and each once: a file
// itself, all files of a folder that can be sessions (.jsonl, .json and .traj,
// also with .gz), and the matches of a pattern. A path that names nothing is an
// error.
func Files(paths ...string) ([]string, error) {
	var out []string
	for _, p := range paths {
		found, err := expand(p)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if !slices.Contains(out, f) {
				out = append(out, f)
			}
		}
	}
	return out, nil
}

func expand(path string) ([]string, error) {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return []string{path}, nil
	case err == nil:
		return below(path)
	}
	if found, _ := filepath.Glob(path); len(found) > 0 {
		return Files(found...)
	}
	if pe := new(fs.PathError); errors.As(err, &pe) {
		err = pe.Err
	}
	return nil, fmt.Errorf("%s: %w", path, err)
}

// below returns the session files of a folder.
func below(dir string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && canBeSession(path) {
			out = append(out, path)
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = fmt.Errorf("%s: it has no .jsonl, .json or .traj file (or one with .gz)", dir)
	}
	return out, err
}

func canBeSession(path string) bool {
	switch filepath.Ext(strings.TrimSuffix(path, ".gz")) {
	case ".jsonl", ".json", ".traj":
		return true
	}
	return false
}

// maxFile is the maximum size of an uncompressed file, in bytes.
const maxFile = 1 << 30

// Read reads one file in a form that package formats knows, gzipped or not.
// format is the name of the form, or "auto". Errors name the file, and the line
// if there is one. A file that is cut off gives a session of the part before
// the cut, with a flaw.
func Read(path, format string) (*Session, error) {
	data, err := os.ReadFile(path)
	if pe := new(fs.PathError); errors.As(err, &pe) {
		err = pe.Err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return Parse(path, data, format)
}

// Parse is Read for a file's content; name is the name of the session, also in
// errors.
func Parse(name string, data []byte, format string) (*Session, error) {
	data, flaw, err := unzipped(data)
	if err != nil {
		return nil, located(name, err)
	}
	f, err := formats.Read(format, data)
	if whole, line := withoutCut(data, err); line > 0 {
		if g, errWhole := formats.Read(format, whole); errWhole == nil {
			data, f, err = whole, g, nil
			flaw = cmp.Or(flaw, error(&formats.InputError{Line: line, Index: -1, Err: errCutOff}))
		}
	}
	if err == nil && len(f.Messages()) == 0 {
		err = errors.New("it has no messages")
	}
	if err != nil {
		return nil, located(name, cmp.Or(flaw, err))
	}
	other, err := oneForm(data)
	if err != nil {
		return nil, located(name, err)
	}
	if flaw = cmp.Or(flaw, other); flaw != nil {
		flaw = located(name, flaw)
	}
	return &Session{Flaw: flaw, Name: name, Messages: f.Messages(), Times: f.Times(), Tools: f.Request().About().Tools}, nil
}

// withoutCut returns the lines before the last one, and the number of the last
// one, if err is about the last line and that line is incomplete JSON: the
// writer of the file was stopped.
func withoutCut(data []byte, err error) (whole []byte, line int) {
	at := new(formats.InputError)
	if !errors.As(err, &at) || at.Line < 2 {
		return nil, 0
	}
	data = bytes.TrimRight(data, "\n")
	end := bytes.LastIndexByte(data, '\n')
	if end < 0 || at.Line != 1+bytes.Count(data, []byte("\n")) || data[end+1] != '{' || json.Valid(data[end+1:]) {
		return nil, 0
	}
	return data[:end+1], at.Line
}

func located(path string, err error) error {
	if at := new(formats.InputError); errors.As(err, &at) && at.Line > 0 {
		return fmt.Errorf("%s:%d: %w", path, at.Line, at.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// unzipped returns the content of a compressed file, and other files unchanged.
// A compressed file that is cut off has a flaw.
func unzipped(data []byte) (plain []byte, flaw, err error) {
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, nil, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, nil, err
	}
	plain, err = io.ReadAll(io.LimitReader(z, maxFile+1))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		line := 1 + bytes.Count(plain, []byte("\n"))
		flaw, err = &formats.InputError{Line: line, Index: -1, Err: errors.New("the compressed file is cut off here")}, nil
	}
	if err == nil && len(plain) > maxFile {
		err = fmt.Errorf("has more than %d bytes after decompression", maxFile)
	}
	return plain, flaw, err
}

// From returns a source that reads files one by one, on demand.
func From(files []string, format string) Source {
	return func() (*Session, bool, error) {
		if len(files) == 0 {
			return nil, false, nil
		}
		path := files[0]
		files = files[1:]
		s, err := Read(path, format)
		return s, true, err
	}
}
