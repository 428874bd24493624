// Package console writes events for people: one aligned line each, in color on
// a terminal. For programs it writes each event as a line of JSON, as the audit
// log does.
package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"github.com/agentcompact/compact/trace"
)

// Color determines when lines are colored.
type Color int

// When lines are colored.
const (
	ColorAuto   Color = iota // on a terminal, unless NO_COLOR is set or TERM is "dumb"
	ColorAlways              // everywhere
	ColorNever               // nowhere
)

// Options changes what an [Exporter] writes. Nil, and zero fields, mean the
// defaults.
type Options struct {
	JSON  bool  // one JSON object per line, as trace.Event.AppendJSON makes it; never colored
	Color Color // default ColorAuto
	Width int   // maximum characters of an event's text; default 160, negative: no limit
	// Location is the time zone of the times. Default time.Local.
	Location *time.Location
}

// Exporter is a [trace.Exporter] that writes lines. Like every exporter, it is used
// from one goroutine at a time.
type Exporter struct {
	w      io.Writer
	opts   Options
	color  bool
	buf    bytes.Buffer
	closed bool
}

var (
	_ trace.Exporter = (*Exporter)(nil)
	_ trace.Named    = (*Exporter)(nil)
)

// Name is "console".
func (*Exporter) Name() string { return "console" }

// New returns an exporter to w, which the caller closes. Each batch is written
// in one Write.
func New(w io.Writer, opts *Options) *Exporter {
	e := &Exporter{w: w}
	if opts != nil {
		e.opts = *opts
	}
	if e.opts.Width == 0 {
		e.opts.Width = 160
	}
	if e.opts.Location == nil {
		e.opts.Location = time.Local
	}
	e.color = !e.opts.JSON && wantsColor(w, e.opts.Color)
	return e
}

func wantsColor(w io.Writer, c Color) bool {
	if c != ColorAuto {
		return c == ColorAlways
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Export writes the events.
func (e *Exporter) Export(_ context.Context, events []trace.Event) error {
	if e.closed {
		return trace.ErrShutdown
	}
	e.buf.Reset()
	for i := range events {
		if e.opts.JSON {
			e.buf.Write(append(events[i].AppendJSON(e.buf.AvailableBuffer()), '\n'))
		} else {
			e.line(&events[i])
		}
	}
	if e.buf.Len() == 0 {
		return nil
	}
	_, err := e.w.Write(e.buf.Bytes())
	return err
}

// Shutdown ends the exporter. There is nothing left to write.
func (e *Exporter) Shutdown(context.Context) error {
	e.closed = true
	return nil
}

// The colors of a line.
const (
	reset  = "\x1b[0m"
	faint  = "\x1b[2m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	cyan   = "\x1b[36m"
)

// line writes one event:
//
//	06:17:02.123  session-7f3a  trigger_decision      1.2ms  ok    triggered: …
func (e *Exporter) line(ev *trace.Event) {
	at := ev.Start
	if at.IsZero() {
		at = ev.End
	}
	e.paint(faint, at.In(e.opts.Location).Format("15:04:05.000"))
	e.buf.WriteString("  ")
	e.paint(faint, pad(clean(ev.Session.String(), 16), 16))
	e.buf.WriteString("  ")
	e.paint(nameColor(ev), pad(strings.TrimPrefix(ev.Name, "compact."), 19))
	fmt.Fprintf(&e.buf, "  %8s  ", duration(ev.Duration()))
	mark, color := verdict(ev)
	e.paint(color, pad(mark, 5))
	if text := clean(text(ev), e.opts.Width); text != "" {
		e.buf.WriteString("  ")
		e.buf.WriteString(text)
	}
	e.buf.WriteByte('\n')
}

func (e *Exporter) paint(color, s string) {
	if !e.color || color == "" {
		e.buf.WriteString(s)
		return
	}
	e.buf.WriteString(color)
	e.buf.WriteString(s)
	e.buf.WriteString(reset)
}

func nameColor(ev *trace.Event) string {
	if ev.Name == trace.NameBeforeModelCall {
		return ""
	}
	return cyan
}

// verdict returns the word in the fifth column, and its color.
func verdict(ev *trace.Event) (string, string) {
	switch {
	case ev.Severity == trace.SeverityWarning:
		return "warn", yellow
	case ev.Failed():
		return "error", red
	case ev.Severity != "":
		return ev.Severity, yellow
	}
	return string(trace.StatusOK), ""
}

// text returns the text of the event.
func text(ev *trace.Event) string {
	var data struct {
		OutputText string `json:"output_text"`
		Message    string `json:"message"`
	}
	if err := json.Unmarshal([]byte(ev.Data.String()), &data); err != nil {
		return ev.Data.String()
	}
	if data.OutputText != "" {
		return data.OutputText
	}
	return data.Message
}

// clean fits text into a line of at most n characters; a negative n is not a limit.
// Characters that control the terminal become spaces.
func clean(s string, n int) string {
	var out []rune
	gap := false
	for _, r := range s {
		if !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			gap = len(out) > 0
			continue
		}
		if gap {
			out = append(out, ' ')
			gap = false
		}
		if out = append(out, r); n >= 0 && len(out) > n {
			return string(out[:n-1]) + "…"
		}
	}
	return string(out)
}

func pad(s string, width int) string {
	if n := width - len([]rune(s)); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// duration writes d in at most eight characters.
func duration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%dµs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%.1fms", float64(d)/float64(time.Millisecond))
	case d < time.Minute:
		return fmt.Sprintf("%.2fs", d.Seconds())
	}
	return fmt.Sprintf("%.1fm", d.Minutes())
}
