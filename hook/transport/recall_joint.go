package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// joint is what a caller has of answers that reach it as one.
type joint struct {
	answers  int             // how many came before; 0 = events are handed on as they are
	id       json.RawMessage // of the first
	created  json.RawMessage // likewise
	index    int             // how many blocks or items it has
	sequence int             // the number of the next event
	output   int             // tokens of the answers before
	items    []json.RawMessage
	prompt   rawObject // what this answer said of its prompt
	text     bool      // text came before that no white space ends
}

// add returns a number that says tokens of this answer with those before it.
func (j *joint) add(n json.RawMessage) json.RawMessage {
	if n == nil {
		return nil
	}
	return enc(max(indexOf(n), 0) + j.output)
}

// addTo adds to the numbers of an object that are there.
func (j *joint) addTo(usage rawObject, names ...string) {
	for _, name := range names {
		if usage[name] != nil {
			usage[name] = j.add(usage[name])
		}
	}
}

// apart returns a text that follows another one, on a wire where nothing else
// divides them.
func (j *joint) apart(s string) string {
	if s == "" || !j.text {
		return s
	}
	j.text = false
	if s[0] == '\n' {
		return s
	}
	return "\n\n" + s
}

// endsInText notes whether the text so far has to be divided from more.
func (j *joint) endsInText(s string) {
	if s != "" {
		j.text = !bytes.HasSuffix([]byte(s), []byte("\n"))
	}
}

// from returns what stands behind so many bytes of what was split.
func (p *pieces) from(size int) *pieces {
	at := 0
	for i, e := range p.list {
		if at >= size {
			return &pieces{list: p.list[i:], array: p.array}
		}
		at += e.size
	}
	return &pieces{}
}

// A request that a caller would have made again is made again here, as it can't
// any more: its answer has begun.
const maxTries = 3

// notAnswered is why the model gave no next answer.
type notAnswered struct {
	status int
	body   []byte
	err    error
	after  time.Duration // when to ask again; 0 = the provider does not say
}

// ask asks the model again, for a stream.
func (a *asking) ask() (*http.Response, *notAnswered) {
	for try := 1; ; try++ {
		resp, failed := a.once()
		if failed == nil || try == maxTries || !failed.passes() {
			return resp, failed
		}
		wait := min(max(failed.after, time.Second<<(try-1)/2), 8*time.Second)
		if a.x.t.pause(a.x.req.Context(), wait) != nil {
			return nil, failed
		}
		a.renew()
	}
}

func (a *asking) once() (*http.Response, *notAnswered) {
	resp, err := a.x.run()
	if err != nil {
		return nil, &notAnswered{status: http.StatusBadGateway, err: err}
	}
	flows := countable(resp) == stream
	if a.array {
		flows = isArray(resp, a.x.req.URL.Path, a.x.dialect)
	}
	if flows && codingOf(resp) == "" && a.x.dialect != nil {
		return resp, nil
	}
	defer func() { _ = resp.Body.Close() }()
	failed := &notAnswered{status: resp.StatusCode}
	if failed.body, err = io.ReadAll(io.LimitReader(resp.Body, maxError)); err != nil || resp.StatusCode < 400 {
		failed.status, failed.err = http.StatusBadGateway, errors.Join(errors.New("the model was asked again, and its answer is no stream"), err)
	}
	if n, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && n > 0 {
		failed.after = time.Duration(n) * time.Second
	}
	return nil, failed
}

// passes reports whether the next try may be answered.
func (f *notAnswered) passes() bool {
	return f.status == http.StatusRequestTimeout || f.status == http.StatusConflict || f.status == http.StatusTooManyRequests || f.status >= 500
}

// object is an error as a provider says it.
func (f *notAnswered) object() (o rawObject, message string) {
	message = parseFailure(f.body).Message
	if f.err != nil {
		message = f.err.Error()
	}
	o = obj(trimArray(f.body))
	if o == nil || o["error"] == nil {
		o = rawObject{"error": enc(map[string]any{"type": "api_error", "message": message, "code": f.status})}
	}
	return o, message
}

// event is an error in a stream, in the form of the wire.
func (f *notAnswered) event(d dialect, j *joint) []byte {
	o, message := f.object()
	name := d.failure(j, o, message)
	if name != "" {
		name = "event: " + name + "\n"
	}
	return fmt.Appendf(nil, "%sdata: %s\n\n", name, enc(o))
}

// pause waits, unless the caller goes.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
