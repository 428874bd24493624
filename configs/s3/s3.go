// Package s3 links archives in S3 into a program that loads configurations: storage.adapter:
// s3. Import it for its effect:
//
//	import _ "github.com/agentcompact/compact/configs/s3"
package s3

import (
	"errors"
	"net/http"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/driver"
	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/storage/s3"
)

func init() {
	driver.S3 = &driver.Bucket{
		Check: func(c compact.StorageConfig) error { return renamed(config(c).Check()) },
		New: func(c compact.StorageConfig) (driver.Tried, error) {
			a, err := s3.New(config(c))
			if err != nil {
				return nil, renamed(err)
			}
			return a, nil
		},
		Unreachable: func(err error) bool { return errors.Is(err, s3.ErrUnreachable) },
		Failing:     failing, Advise: advise, Text: text,
	}
}

func config(c compact.StorageConfig) s3.Config {
	return s3.Config{
		Bucket: c.Bucket, Prefix: strings.Trim(c.Prefix, "/"), Region: c.Region, Endpoint: c.Endpoint, PathStyle: c.PathStyle,
		KMSKeyID: c.KMSKeyID, Lock: s3.Lock{Mode: s3.LockMode(c.ObjectLock.Mode), Days: c.ObjectLock.Days}, Timeout: c.Timeout,
	}
}

// renamed renames the settings in errors of package s3 to their names in
// files. It omits the values, because an endpoint can hold a password.
func renamed(err error) error {
	var errs []error
	for _, err := range words.Leaves(err) {
		if at := new(s3.ConfigError); errors.As(err, &at) {
			err = &compact.ConfigError{Path: "storage." + at.Field, Reason: strings.ReplaceAll(at.Reason, "object_lock.", "storage.object_lock."), Err: at}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func advise(err error) string {
	var not *s3.NotEnforcedError
	switch code := codeOf(err); {
	case errors.Is(err, s3.ErrNoCredentials):
		return "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role"
	case errors.Is(err, s3.ErrUntrusted), errors.Is(err, s3.ErrUnreachable):
		return ""
	case errors.As(err, &not) && not.What == "Object Lock":
		return "create a bucket with Object Lock, or remove storage.object_lock"
	case errors.As(err, &not) && not.What == "SSE-KMS", strings.HasPrefix(code, "KMS"):
		return "correct storage.kms_key_id, and let these credentials use the key (kms:GenerateDataKey, kms:Decrypt)"
	case errors.As(err, &not):
		return "use a server that enforces it: otherwise the archive could lose data"
	case code == "NoSuchBucket":
		return "create the bucket, or correct storage.bucket"
	case code == "InvalidAccessKeyId", code == "SignatureDoesNotMatch":
		return "these are not credentials of this server: correct them, or storage.endpoint"
	case code == "PermanentRedirect", code == "AuthorizationHeaderMalformed", code == "IllegalLocationConstraintException":
		return "the bucket is in another region: correct storage.region"
	case statusOf(err) == http.StatusForbidden:
		return "give these credentials the permissions that docs/SECURITY.md lists, or correct storage.bucket and storage.prefix"
	}
	return ""
}

func failing(err error) string {
	var e *s3.NotEnforcedError
	switch {
	case errors.As(err, &e) && e.What == "SSE-KMS", strings.HasPrefix(codeOf(err), "KMS"):
		return "KMS key"
	case errors.As(err, &e):
		return e.What
	}
	return "bucket"
}

// text returns the message of an answer of S3. The text of a NotEnforcedError says more
// than an answer that is joined to it.
func text(err error) (string, bool) {
	var answer interface {
		ErrorCode() string
		ErrorMessage() string
	}
	if not := new(s3.NotEnforcedError); errors.As(err, &not) || !errors.As(err, &answer) {
		return "", false
	}
	return strings.TrimSuffix(answer.ErrorCode()+": "+answer.ErrorMessage(), ": "), true
}

// codeOf returns the error code of S3.
func codeOf(err error) string {
	var e interface{ ErrorCode() string }
	if errors.As(err, &e) {
		return e.ErrorCode()
	}
	return ""
}

func statusOf(err error) int {
	var e interface{ HTTPStatusCode() int }
	if errors.As(err, &e) {
		return e.HTTPStatusCode()
	}
	return 0
}
