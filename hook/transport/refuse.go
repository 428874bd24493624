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

// errorHeader holds the Op of the error in an answer of this package.
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

// refuse returns an error answer in the provider's format that tells clients
// not to retry.
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
		body = nil // can't happen: the body has only strings and numbers
	}
	return &http.Response{
		Status: strconv.Itoa(status) + " " + http.StatusText(status), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{
			"Content-Type":   {"application/json"},
			"Content-Length": {strconv.Itoa(len(body))},
			"X-Should-Retry": {"false"}, // read by openai-go and anthropic-sdk-go
			errorHeader:      {e.Op},
		},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
		Request: x.req.WithContext(context.WithValue(x.req.Context(), errorKey{}, e)),
	}
}

type object = map[string]any

// shape returns an error in the provider's form.
func (x *exchange) shape(status int, code, text string) any {
	switch x.format.Name() {
	case anthropic.Name:
		kind := "invalid_request_error"
		if status == http.StatusRequestEntityTooLarge {
			kind = "request_too_large"
		}
		if code != "" {
			text = "prompt is too long: " + text // agents look for these words
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
