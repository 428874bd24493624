package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// target is a file that is written whole or not at all: the old content stays until
// the new one is on disk.
type target struct {
	asked string   // path that the command line names
	path  string   // the same with symbolic links resolved
	temp  *os.File // temporary file in the same folder; nil if the target is not a regular file
	mode  fs.FileMode
}

// openTarget prepares to write a file. It fails early if a regular file can't be
// written; devices and pipes are opened only by commit. The caller calls commit or
// discard.
func openTarget(path string) (*target, error) {
	t := &target{asked: path, mode: 0o600}
	var err error
	if t.path, err = destination(path); err != nil {
		return nil, unwritable(path, err)
	}
	info, err := os.Stat(t.path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return t, nil
	case err == nil:
		t.mode = info.Mode().Perm()
		if err := writable(t.path, t.mode); err != nil {
			return nil, unwritable(path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, unwritable(path, err)
	}
	if t.temp, err = os.CreateTemp(filepath.Dir(t.path), "."+filepath.Base(t.path)+".*"); err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("its folder accepts no new file: %w", cause(err))
		}
		return nil, unwritable(path, err)
	}
	return t, nil
}

// unwritable returns an error with the requested path in place of the temporary file's
// path.
func unwritable(path string, err error) error {
	return fmt.Errorf("%s can't be written: %w", path, cause(err))
}

// cause returns the error of the operating system without its path, because the path can
// be that of the temporary file.
func cause(err error) error {
	if pe := new(fs.PathError); errors.As(err, &pe) {
		return pe.Err
	}
	if le := new(os.LinkError); errors.As(err, &le) {
		return le.Err
	}
	return err
}

// commit writes the content.
func (t *target) commit(data []byte) error {
	defer t.discard()
	if err := t.write(data); err != nil {
		return unwritable(t.asked, err)
	}
	return nil
}

func (t *target) write(data []byte) error {
	if t.temp == nil {
		return os.WriteFile(t.path, data, t.mode)
	}
	if _, err := t.temp.Write(data); err != nil {
		return err
	}
	if err := t.temp.Chmod(t.mode); err != nil {
		return err
	}
	if err := t.temp.Sync(); err != nil {
		return err
	}
	if err := t.temp.Close(); err != nil {
		return err
	}
	return os.Rename(t.temp.Name(), t.path)
}

// discard removes the temporary file. After a commit it does nothing.
func (t *target) discard() {
	if t != nil && t.temp != nil {
		_ = t.temp.Close()
		_ = os.Remove(t.temp.Name())
	}
}

// writeFile writes a file atomically.
func writeFile(path string, data []byte) error {
	t, err := openTarget(path)
	if err != nil {
		return err
	}
	return t.commit(data)
}

// openTarget is [openTarget], but refuses a file that the command reads.
func (a *app) openTarget(path string) (*target, error) {
	if err := a.spares(path); err != nil {
		return nil, err
	}
	return openTarget(path)
}

// writeFile is [writeFile], but refuses a file that the command reads.
func (a *app) writeFile(path string, data []byte) error {
	t, err := a.openTarget(path)
	if err != nil {
		return err
	}
	return t.commit(data)
}

// printJSON writes a value for programs, indented for people.
func (a *app) printJSON(v any) error { return encodeJSON(a.out, v) }

func encodeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeControls(b.Bytes()))
	return err
}

// escapeControls escapes the characters of JSON that could act on a terminal.
func escapeControls(text []byte) []byte {
	acts := func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }
	if bytes.IndexFunc(text, acts) < 0 {
		return text
	}
	var b []byte
	for _, r := range string(text) {
		if !acts(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			b = fmt.Appendf(b, `\u%04x`, unit)
		}
	}
	return b
}
