package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/agentcompact/compact/redact"
)

// A Payload is the data of an event before redaction. Only the payload types of
// this package implement it.
type Payload interface {
	// spec returns the fields of the event that depend on the payload's type.
	spec() spec
	// complete returns the payload with its computed fields set. JSON can
	// encode the result, and no list or object in it is null.
	complete() any
}

// spec holds the fields of an event that depend on the type of its payload.
type spec struct {
	name, kind string
	status     Status
	severity   string
}

// Encode writes a payload as JSON: numbers first and the display text last, for
// viewers that list the keys in this order. It computes shares and ratios, and
// writes output_text if it is empty. Pass the result through the redactor
// before any other use.
func Encode(p Payload) []byte { return marshal(p.complete()) }

// New returns the event of a payload with its name, kind, severity and status,
// and a new SpanID; data is the redacted JSON of the payload. The caller sets
// TraceID, ParentID, Session, Agent and Trace.
func New(p Payload, data redact.Text, start, end time.Time) Event {
	s := p.spec()
	if end.Before(start) { // the clock ran backwards
		end = start
	}
	return Event{
		Name: s.name, Kind: s.kind, SpanID: NewSpanID(),
		Start: start, End: end, Status: s.status, Severity: s.severity, Data: data,
	}
}

// statusOf returns StatusError if there is an error text.
func statusOf(errText string) Status {
	if errText != "" {
		return StatusError
	}
	return StatusOK
}

// or returns text, or the result of made if text is empty.
func or(text string, made func() string) string {
	if text != "" {
		return text
	}
	return made()
}

// ratio returns a/b, rounded to 4 decimals; 0 if b is 0.
func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return math.Round(float64(a)/float64(b)*1e4) / 1e4
}

// reduction returns the percentage by which after is smaller than before,
// rounded to 2 decimals; 0 if before is 0.
func reduction(before, after int) float64 {
	if before == 0 {
		return 0
	}
	return math.Round((1-float64(after)/float64(before))*1e4) / 1e2
}

// finite replaces NaN and infinities, which JSON lacks, by 0, and rounds to nine decimals:
// a sum of prices has digits after them that mean nothing.
func finite(f float64) float64 {
	switch nano := f * 1e9; {
	case math.IsNaN(f), math.IsInf(f, 0):
		return 0
	case math.IsInf(nano, 0):
		return f
	default:
		return math.Round(nano) / 1e9
	}
}

// Milliseconds returns d in the unit of payloads: milliseconds, rounded to
// microseconds.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// money returns an amount with its unit.
func money(v float64, relative bool) string { return amount(v, relative) + unit(relative) }

func amount(v float64, relative bool) string {
	if relative {
		return fmt.Sprintf("%.4f", v)
	}
	return fmt.Sprintf("$%.4f", v)
}

// unit is the unit of an amount if the price of the model is unknown.
func unit(relative bool) string {
	if relative {
		return " times the price of a million input tokens"
	}
	return ""
}

// count returns "1 message", "2 messages".
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// marshal is json.Marshal without HTML escaping, for values that can't fail.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("trace: " + err.Error()) // payloads hold only values that JSON can encode
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
