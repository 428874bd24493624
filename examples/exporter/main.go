// Command exporter has an exporter of its own, which tells a pager of what a person
// should look at: events that failed or are of high severity. The test holds it
// against all promises of trace.Exporter.
//
//	go run ./examples/exporter
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

// Pager writes one line for each event that a person should look at. A pipeline
// calls it from one goroutine, so that it needs no lock.
type Pager struct {
	w    io.Writer
	down bool
}

// NewPager returns an exporter that writes to w.
func NewPager(w io.Writer) *Pager { return &Pager{w: w} }

// Export writes the lines. An event's texts are redacted: that is what their type
// says.
func (p *Pager) Export(ctx context.Context, events []trace.Event) error {
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

// Shutdown ends the exporter.
func (p *Pager) Shutdown(context.Context) error {
	p.down = true
	return nil
}

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run makes a call without redaction, which is of high severity.
func run(ctx context.Context, w io.Writer) (err error) {
	c, err := compact.Preset("graduated")
	if err != nil {
		return err
	}
	c.Model, c.Archive, c.Exporters = "gpt-4", memory.New(), []trace.Exporter{NewPager(w)}
	c.Redaction.Enabled = false
	m, err := compact.New(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close(ctx)) }() // waits for the exporters
	_, err = m.Preflight(ctx, "support-17", []message.Message{message.User("hello")})
	return err
}
