package s3

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/storage"
)

// Archive stores files in a bucket. Create it with [New] or [Open]. It need not
// be closed.
type Archive struct {
	cfg  Config
	root string // prefix with a slash, or ""

	connecting ctxlock.Mutex
	client     *s3.Client // nil before the first call

	trying ctxlock.Mutex
	tried  atomic.Bool  // Try has succeeded
	single atomic.Bool  // the server does not support bulk deletion
	keeps  atomic.Bool  // old roll-ups cannot be removed
	skew   atomic.Int64 // nanoseconds by which the server's clock is ahead

	mu       sync.Mutex
	tails    map[storage.Key]segment           // last known segment of each log
	unlooked map[storage.Key]uncheckedSegments // appends that were not checked yet
	runs     map[storage.Key]*run              // ends of logs, for roll-ups
	used     int64                             // counts the uses of runs
	listed   map[string][]version              // by folder: what ListToRemove found
}

var (
	_ storage.Archive    = (*Archive)(nil)
	_ storage.FreeKeeper = (*Archive)(nil)

	_ storage.RemovalLister = (*Archive)(nil)
	_ storage.Deferrer      = (*Archive)(nil)
	_ storage.Locator       = (*Archive)(nil)
	_ storage.BulkKeeper    = (*Archive)(nil)
	_ storage.KindOpener    = (*Archive)(nil)
	_ storage.EndOpener     = (*Archive)(nil)
	_ storage.Repeater      = (*Archive)(nil)
)

// New returns the configured archive without any request: the first write calls
// [Archive.Try]. If the permissions allow only reading, use New instead of Open.
func New(c Config) (*Archive, error) {
	if err := c.Check(); err != nil {
		return nil, &storage.Error{Op: "open archive", Err: err}
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	a := &Archive{cfg: c, tails: map[storage.Key]segment{}, unlooked: map[storage.Key]uncheckedSegments{}, runs: map[storage.Key]*run{}}
	if c.Prefix != "" {
		a.root = c.Prefix + "/"
	}
	return a, nil
}

// Open calls New and then [Archive.Try]. So if a bucket can't be written, or
// does not enforce the protection in c, the error occurs now and not later.
func Open(ctx context.Context, c Config) (*Archive, error) {
	a, err := New(c)
	if err != nil {
		return nil, err
	}
	return a, a.Try(ctx)
}

// Location returns the URL of a key, s3://bucket/prefix/key. The segments of a
// log have this as a prefix.
func (a *Archive) Location(k storage.Key) string {
	return "s3://" + a.cfg.Bucket + "/" + a.root + k.String()
}

// api returns the client, which is created at the first use. The first use
// reads files and the environment, and may request credentials.
func (a *Archive) api(ctx context.Context) (*s3.Client, error) {
	if err := a.connecting.Lock(ctx); err != nil {
		return nil, err
	}
	defer a.connecting.Unlock()
	if a.client != nil {
		return a.client, nil
	}
	opts := []func(*config.LoadOptions) error{
		// The client is buildable, so that the SDK can add the certificates of
		// AWS_CA_BUNDLE.
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(transport)),
		config.WithLogger(logging.Nop{}),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }), // retries are done by do
	}
	if a.cfg.Region != "" {
		opts = append(opts, config.WithRegion(a.cfg.Region))
	}
	loaded, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return nil, err
	}
	if loaded.Region == "" {
		if a.cfg.Endpoint == "" {
			return nil, errors.New("no region: set storage.region, AWS_REGION, or the region of the profile")
		}
		loaded.Region = "us-east-1" // expected by servers without regions
	}
	a.client = s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.UsePathStyle = a.cfg.PathStyle
		o.DisableLogOutputChecksumValidationSkipped = true
		o.APIOptions = append(o.APIOptions, a.readClock)
		if a.cfg.Endpoint != "" {
			o.BaseEndpoint = aws.String(strings.TrimSuffix(a.cfg.Endpoint, "/"))
		}
	})
	return a.client, nil
}

func transport(t *http.Transport) {
	t.MaxIdleConnsPerHost = 32
	t.ResponseHeaderTimeout = attemptTimeout
	t.ExpectContinueTimeout = time.Second
}

// name returns the name of a key's object.
func (a *Archive) name(k storage.Key) string { return a.root + k.String() }

// call calls the function what with the client, with the retries of do.
func (a *Archive) call(ctx context.Context, size int64, what func(context.Context, *s3.Client) error) error {
	return a.do(ctx, size, func(ctx context.Context) error {
		client, err := a.api(ctx)
		if err != nil {
			return err
		}
		return what(ctx, client)
	})
}
