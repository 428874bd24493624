package s3

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// Config says where the archive is and what its bucket must enforce. It holds
// no credentials; see the package's comment.
type Config struct {
	Bucket string // required
	Prefix string // "folder" of the archive, without slashes at its ends; may be empty

	Region    string // "": what environment or profile say; with Endpoint alone us-east-1
	Endpoint  string // "": AWS. Such as https://minio.internal:9000
	PathStyle bool   // the bucket stands in the path, not in the host's name

	// KMSKeyID is the key that every object is encrypted with (SSE-KMS): an
	// id, an ARN or an alias. "": what the bucket does by default.
	KMSKeyID string
	// Lock is the retention that every object gets.
	Lock Lock

	// Timeout is for one call, all its attempts included: after it the call
	// gives up. Large objects get a second more for each 256 KiB. Default
	// 1 minute.
	Timeout time.Duration
}

// LockMode says who can shorten a retention.
type LockMode string

// The modes of Object Lock. NoLock leaves it to the bucket.
const (
	NoLock     LockMode = ""
	Governance LockMode = "governance" // only who has s3:BypassGovernanceRetention
	Compliance LockMode = "compliance" // nobody
)

// Lock is a retention by Object Lock. The bucket must have been made for it.
type Lock struct {
	Mode LockMode
	Days int // from the moment an object is written
}

// DefaultTimeout is Config.Timeout where that is 0.
const DefaultTimeout = time.Minute

// maxPrefixBytes leaves room for the longest key and a segment's number within
// the 1,024 bytes of S3.
const maxPrefixBytes = 400

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	prefixForm = regexp.MustCompile(`^[A-Za-z0-9_=+,@-][A-Za-z0-9_.=+,@-]*(/[A-Za-z0-9_=+,@-][A-Za-z0-9_.=+,@-]*)*$`)
)

// ConfigError is a mistake in a [Config].
type ConfigError struct {
	Field  string // as configuration files name it: "bucket", "object_lock.days"
	Reason string // "must be ..."; never the value, which may hold a password
}

// Error says it in one line.
func (e *ConfigError) Error() string { return "s3: " + e.Field + " " + e.Reason }

// Check reports every mistake that can be seen without a network, each as a
// [*ConfigError].
func (c Config) Check() error {
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, &ConfigError{field, fmt.Sprintf(format, args...)})
	}
	if !bucketName.MatchString(c.Bucket) {
		wrong("bucket", "must be the name of a bucket: 3-63 of a-z, 0-9, . and -")
	}
	if c.Prefix != "" && (len(c.Prefix) > maxPrefixBytes || !prefixForm.MatchString(c.Prefix)) {
		wrong("prefix", "must be names with single slashes between, none of which begins with a dot, in at most %d bytes", maxPrefixBytes)
	}
	if c.Endpoint != "" {
		u, err := url.Parse(c.Endpoint)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
			wrong("endpoint", "must be a URL such as https://minio.internal:9000, without user and query")
		}
	}
	switch c.Lock.Mode {
	case NoLock:
		if c.Lock.Days != 0 {
			wrong("object_lock.days", "has no effect without object_lock.mode; set that to governance or compliance")
		}
	case Governance, Compliance:
		if c.Lock.Days < 1 || c.Lock.Days > 36_500 {
			wrong("object_lock.days", "must be 1-36500 with object_lock.mode (got %d)", c.Lock.Days)
		}
	default:
		wrong("object_lock.mode", "must be governance or compliance (got %q)", c.Lock.Mode)
	}
	if c.Timeout < 0 {
		wrong("timeout", "must be >= 0 (got %s)", c.Timeout)
	}
	return errors.Join(errs...)
}

// ParseURL reads s3://bucket/prefix into Bucket and Prefix. It is false for
// what has another form.
func ParseURL(s string) (bucket, prefix string, ok bool) {
	rest, ok := strings.CutPrefix(s, "s3://")
	if !ok {
		return "", "", false
	}
	bucket, prefix, _ = strings.Cut(rest, "/")
	return bucket, strings.Trim(prefix, "/"), bucket != ""
}
