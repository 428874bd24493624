package record

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/storage"
)

// exportVersion is the format version of ExportJSONL.
const exportVersion = 1

func (e *exporter) jsonl(ctx context.Context, w io.Writer, files []storage.Info) error {
	bw := bufio.NewWriterSize(w, 64<<10)
	err := writeJSON(bw, struct {
		Archive string `json:"archive"`
		V       int    `json:"v"`
		Session string `json:"session"`
		Files   int    `json:"files"`
		Bytes   int64  `json:"bytes"`
	}{"compact", exportVersion, e.s.dir.String(), len(files), e.total})
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := e.jsonlFile(ctx, bw, f); err != nil {
			return err
		}
	}
	return bw.Flush()
}

func (e *exporter) jsonlFile(ctx context.Context, w *bufio.Writer, f storage.Info) error {
	name := strings.TrimPrefix(f.Key.String(), e.s.dir.String()+"/")
	if err := writeJSON(w, map[string]string{"file": name}); err != nil {
		return err
	}
	r, err := e.open(ctx, f)
	if err != nil {
		return err
	}
	h, before := sha256.New(), e.done
	err = eachMessage(ctx, io.TeeReader(r, io.MultiWriter(h, e)), func(l rawLine) error {
		if err := writeLine(w, l); err != nil || !HasMessages(name) {
			return err
		}
		return e.writeSame(ctx, w, name, l.text)
	})
	if err == nil && e.done-before < f.Size {
		err = io.ErrUnexpectedEOF
	}
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	return writeJSON(w, struct {
		End    string `json:"end"`
		Bytes  int64  `json:"bytes"`
		SHA256 string `json:"sha256"`
	}{name, f.Size, hex.EncodeToString(h.Sum(nil))})
}

// writeLine writes a line of a file.
func writeLine(w *bufio.Writer, l rawLine) error {
	tail := "}\n"
	if !l.ended {
		tail = `,"open":true}` + "\n"
	}
	member, value := lineMember(l.text)
	_, err := w.WriteString(`{"` + member + `":`)
	if err == nil {
		_, err = w.Write(value)
	}
	if err == nil {
		_, err = w.WriteString(tail)
	}
	return err
}

// writeSame writes the lines that a stretch refers to.
func (e *exporter) writeSame(ctx context.Context, w *bufio.Writer, in string, line []byte) error {
	st, ok := parseStretch(line)
	if !ok {
		return nil
	}
	data, err := e.from.read(ctx, in, st)
	if errors.Is(err, storage.ErrChanged) {
		return nil // the export has that file as it is stored
	}
	if err != nil {
		return err
	}
	return eachOf(st, data, func(l Line) error {
		member, value := lineMember(l.Text)
		return writeJSON(w, map[string]map[string]json.RawMessage{"same": {member: value}})
	})
}

// lineMember returns the member for a line, from which the line can be restored
// byte for byte: the line's own JSON, otherwise a string, otherwise base64.
func lineMember(line []byte) (name string, value []byte) {
	if json.Valid(line) && len(bytes.TrimSpace(line)) == len(line) {
		return "line", line
	}
	if utf8.Valid(line) {
		value, _ = json.Marshal(string(line)) // never fails
		return "text", value
	}
	value, _ = json.Marshal(line) // never fails
	return "base64", value
}

func writeJSON(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
