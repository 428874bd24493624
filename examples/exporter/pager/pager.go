// Package pager is an example of an exporter: it writes to a pager each event that a
// person should look at: errors (compact.error) and events of high severity. A program
// that imports it can have this in its configuration:
//
//	trace: {pager: {file: /var/spool/pager}}
package pager

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/trace"
)

// Settings are the section trace.pager.
type Settings struct {
	File string `mapstructure:"file" doc:"The file that a pager reads, with one line for each event. \"\": no file."`
}

func init() {
	configs.Register("pager", configs.Component[Settings]{Export: func(s Settings) (trace.Exporter, error) {
		if s.File == "" {
			return nil, nil
		}
		return New(&file{name: s.File}), nil
	}})
}

// Exporter writes one line for each event that a person should look at. A pipeline calls
// it from one goroutine, so it needs no lock.
type Exporter struct {
	w    io.Writer
	down bool
}

// New returns an exporter that writes to w.
func New(w io.Writer) *Exporter { return &Exporter{w: w} }

// Export writes the lines. The type of an event's texts ensures that they are
// redacted.
func (p *Exporter) Export(ctx context.Context, events []trace.Event) error {
	if len(events) == 0 {
		return nil
	}
	if p.down {
		return trace.ErrShutdown
	}
	for i, e := range events {
		if ctx.Err() != nil {
			return &trace.LostError{Lost: len(events) - i, Err: ctx.Err()}
		}
		if e.Severity != trace.SeverityHigh && e.Name != trace.NameError {
			continue
		}
		if _, err := fmt.Fprintf(p.w, "session %s: %s\n", e.Session, e.Name); err != nil {
			return &trace.LostError{Lost: len(events) - i, Err: err}
		}
	}
	return nil
}

// Shutdown ends the exporter, and closes its writer.
func (p *Exporter) Shutdown(context.Context) error {
	p.down = true
	if c, ok := p.w.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// file is opened when the first line is written.
type file struct {
	name string
	f    *os.File
}

func (f *file) Write(p []byte) (n int, err error) {
	if f.f == nil {
		if f.f, err = os.OpenFile(f.name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return 0, err
		}
	}
	return f.f.Write(p)
}

func (f *file) Close() error {
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}
