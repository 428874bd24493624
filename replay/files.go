package replay

import (
	"bytes"
	"compress/gzip"
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

// Files returns the files that paths name, in their order and each once: files
// as they are, of folders all files below them that can be sessions (.jsonl,
// .json and .md, also with .gz), of patterns what matches. A path that names
// nothing is an error.
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
		err = fmt.Errorf("%s: there is no .jsonl, .json or .gz file in it", dir)
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

// maxFile bounds what a compressed file may unfold to, in bytes.
const maxFile = 1 << 30

// Read reads one file: any form that package formats knows, gzipped or not.
// format is the name of the form, or "auto". Errors name the file, and the line
// where there is one.
func Read(path, format string) (*Session, error) {
	data, err := load(path)
	if err != nil {
		return nil, located(path, err)
	}
	f, err := formats.Read(format, data)
	if err != nil {
		return nil, located(path, err)
	}
	if len(f.Messages()) == 0 {
		return nil, fmt.Errorf("%s: there are no messages in it", path)
	}
	flaw, err := oneForm(data)
	if err != nil {
		return nil, located(path, err)
	}
	if flaw != nil {
		flaw = located(path, flaw)
	}
	return &Session{Flaw: flaw, Name: path, Messages: f.Messages(), Times: f.Times(), Tools: f.Request().About().Tools}, nil
}

func located(path string, err error) error {
	if at := new(formats.InputError); errors.As(err, &at) && at.Line > 0 {
		return fmt.Errorf("%s:%d: %w", path, at.Line, at.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

func load(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if pe := new(fs.PathError); errors.As(err, &pe) {
		return nil, pe.Err
	}
	if err != nil || !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxFile+1))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = &formats.InputError{Line: 1 + bytes.Count(plain, []byte("\n")), Index: -1, Err: errors.New("the compressed file is cut off here")}
	}
	if err == nil && len(plain) > maxFile {
		err = fmt.Errorf("unfolds to more than %d bytes", maxFile)
	}
	return plain, err
}

// From returns a source that reads files one after the other, as they are
// wanted.
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
