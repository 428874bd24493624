package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
)

// inputFlags are the flags for reading a transcript.
type inputFlags struct {
	recall, fresh          bool
	format, session, tools string
}

var errNoMessages = errors.New("it has no messages")

func (a *app) addInput(cmd *cobra.Command) {
	names := append([]string{"auto"}, formats.Names()...)
	cmd.Flags().StringVar(&a.input.format, "format", "auto", "`NAME` of the format of the file: "+strings.Join(names, ", "))
	complete(cmd, "format", names)
	cmd.Flags().StringVar(&a.input.tools, "tools", "", "`FILE` with the tool schemas of the request (a JSON array), which are counted too (default: the tools of the request, if the input file is one)")
}

func (a *app) addSession(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.input.session, "session", "", "`ID` of the session (default: a hash of the first messages)")
	cmd.Flags().BoolVar(&a.input.fresh, "fresh", false, "ignore earlier compactions of FILE and begin a new session, for example after a change of settings")
	cmd.Flags().BoolVar(&a.input.recall, "recall", false, "the agent has the recall tool, although the tools of FILE don't list it: placeholders and summaries then name references")
}

// transcript is the input of a command.
type transcript struct {
	name  string // name of the file in errors and tables
	file  *formats.File
	msgs  []message.Message
	tools json.RawMessage
	model string // model named on the command line; "" = none

	recall bool // the agent can recall a reference
}

// read reads a command's transcript, and its tool schemas.
func (a *app) read(file string) (*transcript, error) {
	if names := formats.Names(); a.input.format != "auto" && !slices.Contains(names, a.input.format) {
		return nil, &usageError{fmt.Errorf("unknown --format %q: auto, %s", a.input.format, strings.Join(names, ", "))}
	}
	if file == "-" && a.input.tools == "-" {
		return nil, &usageError{errors.New("the messages and --tools can't both come from standard input")}
	}
	t := &transcript{name: inputName(file)}
	data, err := a.bytes(file)
	if err != nil {
		return nil, err
	}
	if data, err = unzipped(data); err != nil {
		return nil, &inputError{file: t.name, err: err}
	}
	a.spare(len(data))
	if t.file, err = formats.Read(a.input.format, data); err != nil {
		return nil, unreadable(t.name, err)
	}
	if t.msgs = t.file.Messages(); len(t.msgs) == 0 {
		return nil, &inputError{file: t.name, err: errNoMessages}
	}
	a.sayForeign(t.name, data)
	a.sayOdd(t)
	t.model, t.recall = a.flags.model, a.input.recall
	if t.tools, err = a.schemas(); t.tools == nil {
		t.tools = t.file.Request().About().Tools
	}
	return t, err
}

// sayForeign warns about bytes that are not UTF-8: a provider refuses them, or reads
// other characters than were meant.
func (a *app) sayForeign(file string, data []byte) {
	if utf8.Valid(data) {
		return
	}
	line := 1
	for text := data; len(text) > 0; {
		r, n := utf8.DecodeRune(text)
		if r == utf8.RuneError && n == 1 {
			break
		}
		if r == '\n' {
			line++
		}
		text = text[n:]
	}
	a.complain(file, fmt.Sprintf("warning: it is not all UTF-8; the first other byte is in line %d", line))
}

// The text of a large file is most of the memory of a run, and the default garbage
// collector would let the same amount of garbage accumulate. Above large bytes the
// collector runs more often, and takes up to half of the processor time if the
// memory approaches the program's own need plus a multiple of the file's size.
const (
	large     = 10 << 20
	sparingly = 8 // percent of garbage
	own       = 32 << 20
	atMost    = 3.3
)

// spare configures the collector to save memory in a run that has read a file of
// this size. A limit set by the user stays.
func (a *app) spare(size int) {
	if size <= large {
		return
	}
	debug.SetGCPercent(sparingly)
	a.held += size
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(own + int64(atMost*float64(a.held)))
	}
}

// unreadable is the error for a file that can't be read as messages.
func unreadable(file string, err error) error {
	if errors.Is(err, formats.ErrUnknown) {
		err = errors.New(strings.TrimPrefix(err.Error(), "formats: ") + "; name the format with --format")
	}
	return &inputError{file: file, err: err}
}

// inputName returns the name of a file for errors and tables.
func inputName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}

// bytes reads a file, or standard input for "-".
func (a *app) bytes(file string) ([]byte, error) {
	a.reads(file)
	if file == "-" {
		data, err := a.untilEnd(func() ([]byte, error) { return io.ReadAll(a.in) })
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, &inputError{file: inputName(file), err: err}
		}
		return data, err
	}
	data, err := a.untilEnd(func() ([]byte, error) { return os.ReadFile(file) })
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, &inputError{file: file, err: path.Err}
	}
	return data, err
}

// untilEnd calls the function read, and stops waiting for it when a signal ends the command,
// because a pipe may never get a writer.
func (a *app) untilEnd(read func() ([]byte, error)) ([]byte, error) {
	var data []byte
	var panicked any
	done := make(chan error, 1)
	go func() {
		err := io.ErrUnexpectedEOF // error for a panic
		defer func() {
			panicked = recover()
			done <- err
		}()
		data, err = read()
	}()
	select {
	case err := <-done:
		if panicked != nil {
			panic(panicked) // in the caller's goroutine
		}
		return data, err
	case <-a.ended:
		return nil, context.Canceled
	}
}

// schemas reads the file of --tools.
func (a *app) schemas() (json.RawMessage, error) {
	if a.input.tools == "" {
		return nil, nil
	}
	data, err := a.bytes(a.input.tools)
	if err != nil {
		return nil, err
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		bad := &inputError{file: inputName(a.input.tools), line: 1, err: fmt.Errorf("not a JSON array of tool schemas: %w", err)}
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			bad.line += bytes.Count(data[:min(int(syntax.Offset), len(data))], []byte{'\n'})
		}
		return nil, bad
	}
	return data, nil
}

// options returns the options of a transcript, for every call of the manager. The
// command line takes precedence over the file.
func (t *transcript) options() []compact.Option {
	opts := []compact.Option{compact.WithRequest(t.file.Request())}
	if t.tools != nil {
		opts = append(opts, compact.WithTools(t.tools))
	}
	if t.model != "" {
		opts = append(opts, compact.WithModel(t.model))
	}
	if t.recall {
		opts = append(opts, compact.WithRecall())
	}
	return opts
}

// session returns the id under which a transcript is archived: the given id, or a hash of the
// messages up to the first answer, which sessionIn replaces by a keyed hash. So the same file
// is the same session, even if the file has grown since.
func (a *app) session(t *transcript) string {
	if a.input.session != "" {
		return a.input.session
	}
	first := slices.IndexFunc(t.msgs, func(m message.Message) bool { return m.Role == message.RoleAssistant }) + 1
	if first == 0 || first > maxHashed {
		first = min(len(t.msgs), maxHashed)
	}
	h := sha256.New()
	for _, m := range t.msgs[:first] {
		fp := m.Fingerprint()
		h.Write(fp[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// maxHashed is the maximum number of messages from which a session id is computed.
const maxHashed = 8

// firstWords returns the beginning of a message, as one line for a terminal.
func firstWords(m message.Message) string {
	for _, p := range m.Parts {
		switch p.Kind {
		case message.KindText, message.KindToolResult, message.KindReasoning:
			if s := oneLine(p.Text[:min(len(p.Text), maxWords)]); s != "" {
				return s
			}
		}
	}
	var calls []string
	for _, p := range m.Parts {
		if p.Kind == message.KindToolCall {
			calls = append(calls, oneLine(p.Name+" "+string(p.Args[:min(len(p.Args), maxWords)])))
		}
	}
	if len(calls) > 0 {
		return "→ " + strings.Join(calls, "; ")
	}
	if len(m.Parts) > 0 {
		return "(" + m.Parts[0].Kind.String() + ")"
	}
	return ""
}

// maxWords is the maximum number of bytes that are searched for the first words of
// a text.
const maxWords = 2000
