// Package driver holds what the loader of configurations needs of packages with heavy
// dependencies. A package below configs, such as configs/s3, sets its driver in an init
// function, so that a program links only the dependencies that it imports.
package driver

import (
	"context"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// The drivers of this program; nil: the program does not import the package.
var (
	S3     *Bucket     // configs/s3
	Age    *Encryption // configs/age
	OTLP   *Collector  // configs/otlp
	OpenAI *Model      // configs/openai
)

// A Bucket opens the archive of storage.adapter: s3.
type Bucket struct {
	// Check returns the mistakes in the settings: joined [*compact.ConfigError].
	Check func(compact.StorageConfig) error
	// New creates the archive without a request. Its errors are those of Check.
	New func(compact.StorageConfig) (Tried, error)
	// Unreachable reports whether an error means that no server answered.
	Unreachable func(error) bool
	// Failing returns what an error of Try is about: "bucket", "KMS key" or "Object Lock".
	Failing func(error) string
	// Advise returns a hint on how to fix an error, or "" if the error itself says how.
	Advise func(error) string
	// Text returns the message of the server's answer, without the additions of an SDK; false:
	// the error is no answer.
	Text func(error) (string, bool)
}

// Tried is an archive that can test whether its server enforces the settings.
type Tried interface {
	storage.Archive
	Try(ctx context.Context) error
}

// An Encryption encrypts an archive for the recipients of storage.encrypt, and decrypts it
// with the identities in the environment.
type Encryption struct {
	// Check returns a [*compact.ConfigError] if the recipients are wrong.
	Check func(compact.EncryptConfig) error
	// Over returns the function that wraps an archive. Its error is that of Check, or says that
	// the identities are wrong.
	Over func(compact.EncryptConfig) (func(storage.Archive) Checked, error)
	// Decrypt wraps an encrypted archive for a reader.
	Decrypt func(storage.Archive) (Checked, error)
	// Unwrap returns the archive below the encryption, and a function that wraps a part of it in
	// the same way; false: a is not encrypted.
	Unwrap func(a storage.Archive) (inner storage.Archive, over func(storage.Archive) storage.Archive, ok bool)
	// Try encrypts a text, and decrypts it if there is an identity. Did describes the
	// successful result of Try.
	Try func(context.Context, compact.EncryptConfig) error
	Did func() string
	// Advise returns a hint on how to fix an error, or "" if the error itself says how.
	Advise func(error) string
}

// Checked is an encrypted archive that can compare its content with its keys.
type Checked interface {
	storage.Archive
	Check(ctx context.Context) error
}

// A Collector exports events and metrics over OTLP.
type Collector struct {
	New, Metrics func(compact.TraceConfig) (trace.Exporter, error)
	// Try and TryMetrics send an empty request to the endpoint.
	Try, TryMetrics func(ctx context.Context, endpoint string, timeout time.Duration) error
}

// A Model writes summaries on a server with the API of OpenAI.
type Model struct {
	// New creates a client without a request. from names the variable of the key.
	New func(s compact.SummarizerConfig, key, from string) (strategy.Summarizer, error)
}
