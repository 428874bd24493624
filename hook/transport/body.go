package transport

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
)

// readBody reads the body of a request. For a body above the limit it returns
// nil and a reader of the whole body.
func (t *Transport) readBody(req *http.Request) ([]byte, io.ReadCloser, error) {
	if req.ContentLength > t.maxBody {
		return nil, req.Body, nil
	}
	var data []byte
	var err error
	if req.ContentLength > 0 {
		data = make([]byte, req.ContentLength)
		var n int
		n, err = io.ReadFull(req.Body, data)
		data = data[:n]
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err == nil {
			err = ended(req.Body)
		}
	} else {
		data, err = io.ReadAll(io.LimitReader(req.Body, t.maxBody+1))
	}
	if err == nil && int64(len(data)) > t.maxBody {
		return nil, joined{io.MultiReader(bytes.NewReader(data), req.Body), req.Body}, nil
	}
	if cerr := req.Body.Close(); err == nil {
		err = cerr
	}
	return data, nil, err
}

// ended returns an error unless r is at its end.
func ended(r io.Reader) error {
	n, err := io.CopyN(io.Discard, r, 1)
	switch {
	case n > 0:
		return errLonger
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

var errLonger = errors.New("the body is longer than its ContentLength")

// joined reads from one reader and closes another.
type joined struct {
	io.Reader
	io.Closer
}

// withBody returns a copy of a request with another body, and leaves the
// request unchanged.
func withBody(req *http.Request, body []byte) *http.Request {
	out := req.Clone(req.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	out.ContentLength = int64(len(body))
	out.TransferEncoding = nil
	if out.Header.Get("Content-Length") != "" {
		out.Header.Set("Content-Length", strconv.Itoa(len(body)))
	}
	return out
}

// withRest returns a copy of a request without this package's headers. Its body
// is rest, which readBody returned: the whole body, including the bytes that were
// read.
func withRest(req *http.Request, rest io.ReadCloser) *http.Request {
	out := req.Clone(req.Context())
	out.Body = rest
	strip(out.Header)
	return out
}
