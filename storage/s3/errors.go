package s3

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/agentcompact/compact/storage"
)

// ErrNotEnforced: the server does not do what it was asked for, so nothing is
// written to it. The error is a [*NotEnforcedError].
var ErrNotEnforced = errors.New("not in force")

// ErrUnreachable: the server did not answer, or said that it cannot answer now,
// for as long as a call may take. The error is an [*UnreachableError].
var ErrUnreachable = errors.New("cannot be reached")

// ErrNoCredentials: none of the places where credentials may come from has any
// that can be used.
var ErrNoCredentials = errors.New("no credentials: not in the environment, a profile, a web identity, a container or an instance's role")

// ErrUntrusted: the certificate of the server is signed by nobody who is known
// here.
var ErrUntrusted = errors.New("the server's certificate is not trusted; name the file of the authority that signed it in AWS_CA_BUNDLE")

// named puts the name of what happened in front of the words of the SDK, where
// these are hard to read.
func named(err error) error {
	var untrusted *tls.CertificateVerificationError
	switch {
	case err == nil:
		return nil
	case strings.Contains(err.Error(), "get identity: get credentials:"):
		return fmt.Errorf("%w: %w", ErrNoCredentials, err)
	case errors.As(err, &untrusted):
		return fmt.Errorf("%w: %w", ErrUntrusted, err)
	}
	return err
}

// An UnreachableError says which server was called in vain, and what to look at.
type UnreachableError struct {
	Server   string        // scheme and host, as they were called
	Attempts int           // at least 1
	Waited   time.Duration // in all
	Err      error         // of the last attempt
}

// Error says it in one line, without what the SDK puts around an error of the
// network.
func (e *UnreachableError) Error() string {
	gaveUp := fmt.Sprintf("gave up after %d attempts in %s", e.Attempts, e.Waited.Round(time.Millisecond))
	if errors.Is(e.Err, ErrNoCredentials) {
		return fmt.Sprintf("%v; %s", e.Err, gaveUp)
	}
	why, then := e.Err, "it answers, but cannot serve: see its log, or try again later"
	if status(e.Err) == 0 {
		then = "check storage.endpoint, storage.region and the network"
	}
	if called := new(url.Error); errors.As(e.Err, &called) {
		why = called.Err
	}
	return fmt.Sprintf("%s %v: %s: %v; %s", e.Server, ErrUnreachable, gaveUp, why, then)
}

// Is makes errors.Is(err, ErrUnreachable) true.
func (e *UnreachableError) Is(target error) bool { return target == ErrUnreachable }

// Unwrap returns the error of the last attempt.
func (e *UnreachableError) Unwrap() error { return e.Err }

// server returns whom a call that failed with err was for.
func (a *Archive) server(err error) string {
	if called := new(url.Error); errors.As(err, &called) {
		if u, perr := url.Parse(called.URL); perr == nil {
			return u.Scheme + "://" + u.Host
		}
	}
	return cmp.Or(a.cfg.Endpoint, "S3")
}

// NotEnforcedError says what a server did not do, though it said so.
type NotEnforcedError struct {
	What   string // "create-once", "SSE-KMS", "Object Lock", "ranged reads"
	Reason string // what was seen, and what to do
}

// Error says it in one line.
func (e *NotEnforcedError) Error() string {
	return fmt.Sprintf("%s is not in force: %s", e.What, e.Reason)
}

// Is makes errors.Is(err, ErrNotEnforced) true.
func (e *NotEnforcedError) Is(target error) bool { return target == ErrNotEnforced }

// errTaken: the name is somebody else's.
var errTaken = errors.New("the name is taken")

// status returns the HTTP status of an answer, 0 when there was none. Who was
// asked for credentials says nothing of an object.
func status(err error) int {
	var r *smithyhttp.ResponseError
	if errors.As(err, &r) && !errors.Is(err, ErrNoCredentials) {
		return r.HTTPStatusCode()
	}
	return 0
}

// code returns the code of an error that the server told, "" for others.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// absent reports whether an object is not there. A bucket that is not there
// is something else.
func absent(err error) bool {
	return status(err) == http.StatusNotFound && code(err) != "NoSuchBucket"
}

var retryable = retry.IsErrorRetryables(retry.DefaultRetryables)

// passing reports whether an error can pass by itself.
func passing(err error) bool {
	switch s := status(err); {
	case errors.Is(err, ErrUntrusted):
		return false
	case s == http.StatusNotImplemented:
		return false
	case s >= 500, s == http.StatusTooManyRequests, s == http.StatusRequestTimeout:
		return true
	case s == http.StatusConflict:
		// Somebody writes the same name at the same moment: who is first is
		// not settled yet.
		return code(err) == "ConditionalRequestConflict" || code(err) == "OperationAborted"
	case s >= 300:
		return retryable.IsErrorRetryable(err) == aws.TrueTernary
	}
	var network net.Error
	var cut *smithy.DeserializationError // a good answer that broke off in its middle
	if errors.As(err, &cut) {
		return true
	}
	return retryable.IsErrorRetryable(err) == aws.TrueTernary || errors.As(err, &network) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// locked is the error of what Object Lock keeps; the zero time is a legal hold.
func locked(until time.Time) *storage.LockedError {
	by := "Object Lock"
	if until.IsZero() {
		by = "a legal hold of Object Lock"
	}
	return &storage.LockedError{By: by, Until: until}
}
