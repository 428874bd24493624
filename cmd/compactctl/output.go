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

// target is a file that is written whole or not at all: what is there stays
// until the new content is on disk.
type target struct {
	path string   // where links lead to
	temp *os.File // beside it; nil where the target is no plain file
	mode fs.FileMode
}

// openTarget prepares to write a file, so that one that can't be written is an
// error before any work is done. The caller calls commit or discard.
func openTarget(path string) (*target, error) {
	t := &target{path: path, mode: 0o600}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		t.path = real
	}
	info, err := os.Stat(t.path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return t, nil
	case err == nil:
		t.mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return nil, unwritable(path, err)
	}
	if t.temp, err = os.CreateTemp(filepath.Dir(t.path), "."+filepath.Base(t.path)+".*"); err != nil {
		return nil, unwritable(path, err)
	}
	return t, nil
}

// unwritable names the file that was asked for, not the one beside it.
func unwritable(path string, err error) error {
	if pe := new(fs.PathError); errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("%s can't be written: %w", path, err)
}

// commit writes the content.
func (t *target) commit(data []byte) error {
	if t.temp == nil {
		return os.WriteFile(t.path, data, t.mode)
	}
	defer t.discard()
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

// discard takes away what was prepared. After a commit it does nothing.
func (t *target) discard() {
	if t != nil && t.temp != nil {
		_ = t.temp.Close()
		_ = os.Remove(t.temp.Name())
	}
}

// writeFile writes a file at once.
func writeFile(path string, data []byte) error {
	t, err := openTarget(path)
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
	_, err := w.Write(unspoken(b.Bytes()))
	return err
}

// unspoken escapes the characters of JSON that could act on a terminal.
func unspoken(text []byte) []byte {
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
