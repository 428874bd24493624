package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// joint describes the answers that the caller has received so far as one answer.
type joint struct {
	answers  int             // number of earlier answers; 0 = events are passed on unchanged
	id       json.RawMessage // id of the first answer
	created  json.RawMessage // creation time of the first answer
	index    int             // number of blocks or items so far
	sequence int             // sequence number of the next event
	output   int             // output tokens of the earlier answers
	items    []json.RawMessage
	prompt   rawObject // prompt usage that this answer reported
	text     bool      // the text so far does not end with a line break
}

// add returns n, an output count of this answer, plus the output tokens of the earlier
// answers.
func (j *joint) add(n json.RawMessage) json.RawMessage {
	if n == nil {
		return nil
	}
	return enc(max(indexOf(n), 0) + j.output)
}

// addTo applies add to the named members that exist.
func (j *joint) addTo(usage rawObject, names ...string) {
	for _, name := range names {
		if usage[name] != nil {
			usage[name] = j.add(usage[name])
		}
	}
}

// apart returns s, with a separator in front if text of an earlier answer
// precedes it. Wires without blocks have no other separator.
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

// endsInText records whether more text must be separated from s.
func (j *joint) endsInText(s string) {
	if s != "" {
		j.text = !bytes.HasSuffix([]byte(s), []byte("\n"))
	}
}

// from returns the pieces after the first size bytes.
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

// maxTries limits the attempts of a follow-up request. The caller can't retry
// it, because its answer has begun.
const maxTries = 3

// notAnswered is the reason why a follow-up request got no answer.
type notAnswered struct {
	status int
	body   []byte
	err    error
	after  time.Duration // see retryAfter
}

// ask sends the follow-up request, with retries, and returns a stream.
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
		failed.status, failed.err = http.StatusBadGateway, errors.Join(errors.New("the model was asked again, and its answer is not a stream"), err)
	}
	failed.after = retryAfter(resp.Header, time.Now())
	return nil, failed
}

// passes reports whether the failure is transient.
func (f *notAnswered) passes() bool {
	return f.status == http.StatusRequestTimeout || f.status == http.StatusConflict || f.status == http.StatusTooManyRequests || f.status >= 500
}

// object returns the error in the provider's form, and its message.
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

// event returns the error as an event of the wire's stream.
func (f *notAnswered) event(d dialect, j *joint) []byte {
	o, message := f.object()
	name := d.failure(j, o, message)
	if name != "" {
		name = "event: " + name + "\n"
	}
	return fmt.Appendf(nil, "%sdata: %s\n\n", name, enc(o))
}

// pause waits for d, or until ctx is done.
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
