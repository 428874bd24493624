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

// ErrNotEnforced means that the server does not enforce a requested protection,
// so nothing is written to it. The error is a [*NotEnforcedError].
var ErrNotEnforced = errors.New("not in force")

// ErrUnreachable means that the server did not answer, or answered with transient errors,
// until the timeout of the call. The error is an [*UnreachableError].
var ErrUnreachable = errors.New("cannot be reached")

// ErrNoCredentials means that no source of credentials has usable ones.
var ErrNoCredentials = errors.New("no credentials: not in the environment, a profile, a web identity, a container or an instance's role")

// ErrUntrusted means that the certificate of the server is signed by an unknown
// authority.
var ErrUntrusted = errors.New("the server's certificate is not trusted; name the file of the authority that signed it in AWS_CA_BUNDLE")

// named wraps an error of the SDK in an error of this package, if it is hard to read.
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

// An UnreachableError reports a server that did not answer, or only with transient
// errors. It is [ErrUnreachable].
type UnreachableError struct {
	Server   string        // scheme and host
	Attempts int           // at least 1
	Waited   time.Duration // total time
	Err      error         // error of the last attempt
}

// Error returns one line, without the additions of the SDK to a network error.
func (e *UnreachableError) Error() string {
	attempts := "attempts"
	if e.Attempts == 1 {
		attempts = "attempt"
	}
	gaveUp := fmt.Sprintf("gave up after %d %s in %s", e.Attempts, attempts, e.Waited.Round(time.Millisecond))
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

// server returns the server of a call that failed with err.
func (a *Archive) server(err error) string {
	if called := new(url.Error); errors.As(err, &called) {
		if u, perr := url.Parse(called.URL); perr == nil {
			return u.Scheme + "://" + u.Host
		}
	}
	return cmp.Or(a.cfg.Endpoint, "S3")
}

// A NotEnforcedError reports a protection that a server accepts but does not
// enforce.
type NotEnforcedError struct {
	What   string // "create-once", "SSE-KMS", "Object Lock", "ranged reads"
	Reason string // the observation, and a remedy
}

// Error returns one line.
func (e *NotEnforcedError) Error() string {
	return fmt.Sprintf("%s is not in force: %s", e.What, e.Reason)
}

// Is makes errors.Is(err, ErrNotEnforced) true.
func (e *NotEnforcedError) Is(target error) bool { return target == ErrNotEnforced }

// errTaken means that another writer has the name.
var errTaken = errors.New("the name is taken")

// status returns the HTTP status of the server's answer, 0 if there was none.
// Answers of a credentials provider don't count.
func status(err error) int {
	var r *smithyhttp.ResponseError
	if errors.As(err, &r) && !errors.Is(err, ErrNoCredentials) {
		return r.HTTPStatusCode()
	}
	return 0
}

// code returns the code of an error from the server, "" for other errors.
func code(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
}

// absent reports whether an object does not exist. A missing bucket does not
// count.
func absent(err error) bool {
	return status(err) == http.StatusNotFound && code(err) != "NoSuchBucket"
}

var retryable = retry.IsErrorRetryables(retry.DefaultRetryables)

// isTransient reports whether an error is transient.
func isTransient(err error) bool {
	switch s := status(err); {
	case errors.Is(err, ErrUntrusted):
		return false
	case s == http.StatusNotImplemented:
		return false
	case s >= 500, s == http.StatusTooManyRequests, s == http.StatusRequestTimeout:
		return true
	case s == http.StatusConflict:
		// Another request writes the same name at the same time, and the server
		// has not decided yet. versitygw answers the third code whenever the file
		// system refuses the name of an object, also in such a race
		// (backend/posix, PutObjectWithPostFunc, v1.8.0).
		switch code(err) {
		case "ConditionalRequestConflict", "OperationAborted", "ExistingObjectIsDirectory":
			return true
		}
		return false
	case s >= 300:
		return retryable.IsErrorRetryable(err) == aws.TrueTernary
	}
	var network net.Error
	var cut *smithy.DeserializationError // a successful answer that was cut off
	if errors.As(err, &cut) {
		return true
	}
	return retryable.IsErrorRetryable(err) == aws.TrueTernary || errors.As(err, &network) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// locked returns the error for an object kept by Object Lock; the zero time
// means a legal hold.
func locked(until time.Time) *storage.LockedError {
	by := "Object Lock"
	if until.IsZero() {
		by = "a legal hold of Object Lock"
	}
	return &storage.LockedError{By: by, Until: until}
}
