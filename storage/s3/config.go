package s3

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
)

// Config has the place of the archive, and the protection that its bucket must
// enforce. It holds no credentials; see the package documentation.
type Config struct {
	Bucket string // required
	Prefix string // "folder" of the archive, without slashes at its ends; may be empty

	Region    string // "" = from the environment or the profile; if these have none, us-east-1 with an Endpoint
	Endpoint  string // "" = AWS. For example https://minio.internal:9000
	PathStyle bool   // the bucket is in the path, not in the host name

	// KMSKeyID is the key for the encryption of every object (SSE-KMS): an id,
	// an ARN or an alias. "": the default of the bucket.
	KMSKeyID string
	// Lock is the retention of every object.
	Lock Lock

	// Timeout limits one call with all its attempts. Large objects get one more
	// second for each 256 KiB. Default 1 minute.
	Timeout time.Duration
}

// LockMode determines which users can shorten a retention.
type LockMode string

// The modes of Object Lock. NoLock leaves the retention to the bucket.
const (
	NoLock     LockMode = ""
	Governance LockMode = "governance" // only with the permission s3:BypassGovernanceRetention
	Compliance LockMode = "compliance" // nobody
)

// Lock is a retention by Object Lock, which must be enabled for the bucket.
type Lock struct {
	Mode LockMode
	Days int // from the time an object is written
}

// DefaultTimeout is used if Config.Timeout is 0.
const DefaultTimeout = time.Minute

// maxPrefixBytes leaves room for the longest key and a segment's number within
// the 1,024 bytes of S3.
const maxPrefixBytes = 400

var (
	bucketName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`) })
	prefixForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[A-Za-z0-9_=+,@-][A-Za-z0-9_.=+,@-]*(/[A-Za-z0-9_=+,@-][A-Za-z0-9_.=+,@-]*)*$`)
	})
)

// ConfigError is a mistake in a [Config].
type ConfigError struct {
	Field  string // as configuration files name it: "bucket", "object_lock.days"
	Reason string // "must be ..."; never the value, which may hold a password
}

// Error returns one line.
func (e *ConfigError) Error() string { return "s3: " + e.Field + " " + e.Reason }

// Check returns every mistake that can be found without a network, each as a
// [*ConfigError].
func (c Config) Check() error {
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, &ConfigError{field, fmt.Sprintf(format, args...)})
	}
	if !bucketName().MatchString(c.Bucket) {
		wrong("bucket", "must be the name of a bucket: 3-63 of a-z, 0-9, . and -")
	}
	if c.Prefix != "" && (len(c.Prefix) > maxPrefixBytes || !prefixForm().MatchString(c.Prefix)) {
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

// ParseURL parses s3://bucket/prefix. It returns false for any other text. The case of
// s3:// is ignored, as in any URL.
func ParseURL(s string) (bucket, prefix string, ok bool) {
	const scheme = "s3://"
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return "", "", false
	}
	rest := s[len(scheme):]
	bucket, prefix, _ = strings.Cut(rest, "/")
	return bucket, strings.Trim(prefix, "/"), bucket != ""
}
