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

// Archive keeps files in a bucket. Make it with [New] or [Open]. It needs no
// closing.
type Archive struct {
	cfg  Config
	root string // prefix and a slash, or nothing

	connecting ctxlock.Mutex
	client     *s3.Client // nil before the first call

	trying ctxlock.Mutex
	tried  atomic.Bool // and found good
	single atomic.Bool // the server does not delete many at once

	mu       sync.Mutex
	tails    map[storage.Key]segment  // last segment that is known of a log
	unlooked map[storage.Key]unlooked // what a look is still owed to
	runs     map[storage.Key]*run     // the ends of logs, to roll them up
	used     int64                    // counts the uses of runs
}

var (
	_ storage.Archive     = (*Archive)(nil)
	_ storage.BulkRemover = (*Archive)(nil)
	_ storage.Deferrer    = (*Archive)(nil)
	_ storage.Locator     = (*Archive)(nil)
	_ storage.BulkKeeper  = (*Archive)(nil)
	_ storage.KindOpener  = (*Archive)(nil)
	_ storage.Repeater    = (*Archive)(nil)
)

// New returns the archive that c names and asks nobody yet: the first write
// calls [Archive.Try]. It is for those who may only read.
func New(c Config) (*Archive, error) {
	if err := c.Check(); err != nil {
		return nil, &storage.Error{Op: "open archive", Err: err}
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	a := &Archive{cfg: c, tails: map[storage.Key]segment{}, unlooked: map[storage.Key]unlooked{}, runs: map[storage.Key]*run{}}
	if c.Prefix != "" {
		a.root = c.Prefix + "/"
	}
	return a, nil
}

// Open is New and then [Archive.Try]: a bucket that cannot be written to, or
// that does not enforce what c asks for, is an error now and not later.
func Open(ctx context.Context, c Config) (*Archive, error) {
	a, err := New(c)
	if err != nil {
		return nil, err
	}
	return a, a.Try(ctx)
}

// Location returns the URL of a key, s3://bucket/prefix/key. A log is at the
// segments whose names begin so.
func (a *Archive) Location(k storage.Key) string {
	return "s3://" + a.cfg.Bucket + "/" + a.root + k.String()
}

// api returns the client, and makes it when it is first asked for. Making it
// reads files and environment, and may ask for credentials.
func (a *Archive) api(ctx context.Context) (*s3.Client, error) {
	if err := a.connecting.Lock(ctx); err != nil {
		return nil, err
	}
	defer a.connecting.Unlock()
	if a.client != nil {
		return a.client, nil
	}
	opts := []func(*config.LoadOptions) error{
		// Buildable, so that the SDK can add the certificates of AWS_CA_BUNDLE.
		config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(transport)),
		config.WithLogger(logging.Nop{}),
		config.WithRetryer(func() aws.Retryer { return aws.NopRetryer{} }), // do retries
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
		loaded.Region = "us-east-1" // what servers that have none expect
	}
	a.client = s3.NewFromConfig(loaded, func(o *s3.Options) {
		o.UsePathStyle = a.cfg.PathStyle
		o.DisableLogOutputChecksumValidationSkipped = true
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

// name is the name of a key's object.
func (a *Archive) name(k storage.Key) string { return a.root + k.String() }

// call is do with the client.
func (a *Archive) call(ctx context.Context, size int64, what func(context.Context, *s3.Client) error) error {
	return a.do(ctx, size, func(ctx context.Context) error {
		client, err := a.api(ctx)
		if err != nil {
			return err
		}
		return what(ctx, client)
	})
}
