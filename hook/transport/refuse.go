package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
)

// errorHeader says which step of this package an answer of its own is from.
const errorHeader = "X-Compact-Error"

// ErrorOf returns the error of an answer from a [Strict] transport, nil for an
// answer of the provider. The SDKs' own errors hold the response: openai.Error
// and anthropic.Error in the field Response. Clients behind a proxy get the
// error's Op in the header X-Compact-Error.
func ErrorOf(resp *http.Response) *Error {
	if resp == nil || resp.Request == nil {
		return nil
	}
	err, _ := resp.Request.Context().Value(errorKey{}).(*Error)
	return err
}

type errorKey struct{}

// refuse answers a request in the place of the provider, in the form of its
// errors, and so that no client tries again.
func (x *exchange) refuse(e *Error) *http.Response {
	text := x.t.m.Redact(e.Error())
	status, code := http.StatusBadRequest, ""
	switch {
	case errors.Is(e, ErrTooLarge):
		status = http.StatusRequestEntityTooLarge
	case errors.Is(e, compact.ErrInsufficientBudget):
		code = "context_length_exceeded"
	}
	body, err := json.Marshal(x.shape(status, code, text))
	if err != nil {
		body = nil // never: these are strings and numbers
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type":   {"application/json"},
			"Content-Length": {strconv.Itoa(len(body))},
			"X-Should-Retry": {"false"}, // what openai-go and anthropic-sdk-go ask
			errorHeader:      {e.Op},
		},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		Request: x.req.WithContext(context.WithValue(x.req.Context(), errorKey{}, e)),
	}
}

type object = map[string]any

// shape is an error as the provider writes it.
func (x *exchange) shape(status int, code, text string) any {
	switch x.format.Name() {
	case anthropic.Name:
		kind := "invalid_request_error"
		if status == http.StatusRequestEntityTooLarge {
			kind = "request_too_large"
		}
		if code != "" {
			text = "prompt is too long: " + text // what agents look for
		}
		return object{"type": "error", "error": object{"type": kind, "message": text}}
	case gemini.Name:
		return object{"error": object{"code": status, "message": text, "status": "INVALID_ARGUMENT"}}
	}
	return object{"error": object{"message": text, "type": "invalid_request_error", "param": nil, "code": orNull(code)}}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
