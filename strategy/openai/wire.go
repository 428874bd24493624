package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// maxResponse is the maximum number of bytes that are read from an answer.
const maxResponse = 8 << 20

// A response holds the parts of an answer that the client's errors lack.
type response struct {
	status     int
	retryAfter time.Duration
}

type responseKey struct{}

func withResponse(ctx context.Context) (context.Context, *response) {
	r := new(response)
	return context.WithValue(ctx, responseKey{}, r), r
}

// doer makes the calls, and records the headers that the client drops.
type doer struct{ http *http.Client }

var (
	smallest = []byte(`"temperature":1e-45`)
	zero     = []byte(`"temperature":0`)
)

// Do implements [api.HTTPDoer].
func (d doer) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		_ = req.Body.Close()
		// Quotes in strings are escaped, so this can only be the field.
		body = bytes.Replace(body, smallest, zero, 1)
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	resp, err := d.http.Do(req)
	if err != nil {
		return nil, err
	}
	if r, ok := req.Context().Value(responseKey{}).(*response); ok {
		r.status = resp.StatusCode
		r.retryAfter = retryAfter(resp.Header, time.Now())
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(resp.Body, maxResponse), resp.Body}
	return resp, nil
}

// maxWait is the limit of the wait that a server may request, in seconds.
const maxWait = 1e6

// retryAfter reads the wait that a server requests: in seconds, as a date, or in
// milliseconds in OpenAI's own header.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < maxWait*1e3 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < maxWait {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}
