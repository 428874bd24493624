package s3

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/storage"
)

// markName is the metadata that identifies the writer of an object: each write
// has its own mark.
const markName = "compact-writer"

// Create implements [storage.Archive].
func (a *Archive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := storage.Begin(ctx, "create", k); err != nil {
		return err
	}
	err := a.Try(ctx)
	if err == nil {
		err = a.put(ctx, a.name(k), b, a.terms(a.now()))
	}
	if errors.Is(err, errTaken) {
		err = storage.ErrExists
	}
	return storage.Wrap("create", k, err)
}

// terms are the conditions under which an object is written.
type terms struct {
	mark  string // mark of the writer
	kms   string // key, or ""
	lock  types.ObjectLockMode
	until time.Time
	of    string // bond of a roll-up's segments, or ""
}

// terms returns the configured terms for an object that is written now.
func (a *Archive) terms(now time.Time) terms {
	t := terms{mark: rand.Text(), kms: a.cfg.KMSKeyID}
	if a.cfg.Lock.Mode != NoLock {
		t.lock = types.ObjectLockMode(strings.ToUpper(string(a.cfg.Lock.Mode)))
		t.until = now.AddDate(0, 0, a.cfg.Lock.Days).UTC().Truncate(time.Second)
	}
	return t
}

func (t terms) metadata() map[string]string {
	if t.of != "" {
		return map[string]string{markName: t.mark, ofName: t.of}
	}
	return map[string]string{markName: t.mark}
}

func (t terms) encryption() types.ServerSideEncryption {
	if t.kms == "" {
		return ""
	}
	return types.ServerSideEncryptionAwsKms
}

func (t terms) retainUntil() *time.Time {
	if t.lock == "" {
		return nil
	}
	return &t.until
}

// text returns nil for "", which the SDK omits.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// put creates an object, or returns errTaken if the name is taken.
func (a *Archive) put(ctx context.Context, name string, b storage.Blob, t terms) error {
	_, err := a.putTagged(ctx, name, b, t)
	return err
}

// putTagged is put that also returns the object's ETag, or "".
func (a *Archive) putTagged(ctx context.Context, name string, b storage.Blob, t terms) (etag string, err error) {
	if b.Size() > partSize {
		err = a.putParts(ctx, name, b, t)
	} else {
		etag, err = a.putWhole(ctx, name, b, t)
	}
	if status(err) == http.StatusPreconditionFailed {
		return "", a.whose(ctx, name, t)
	}
	return etag, err
}

func (a *Archive) putWhole(ctx context.Context, name string, b storage.Blob, t terms) (etag string, err error) {
	in, err := a.putInput(name, b, t)
	if err != nil {
		return "", err
	}
	var out *s3.PutObjectOutput
	err = a.call(ctx, b.Size(), func(ctx context.Context, client *s3.Client) (err error) {
		in.Body = b.Reader()
		out, err = client.PutObject(ctx, in)
		return err
	})
	if err != nil {
		return "", err
	}
	if got := aws.ToString(out.ChecksumSHA256); got != "" && got != *in.ChecksumSHA256 {
		return "", fmt.Errorf("the server stored bytes whose SHA-256 is %s, not %s", got, *in.ChecksumSHA256)
	}
	return unquoted(out.ETag), a.sameKey(out.ServerSideEncryption, aws.ToString(out.SSEKMSKeyId))
}

// putOnce creates an object with a single attempt. It returns the id of the object's
// version, or "".
func (a *Archive) putOnce(ctx context.Context, name string, b storage.Blob, t terms) (id string, err error) {
	in, err := a.putInput(name, b, t)
	if err != nil {
		return "", err
	}
	client, err := a.api(ctx)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
	defer cancel()
	in.Body = b.Reader()
	out, err := client.PutObject(ctx, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.VersionId), nil
}

func (a *Archive) putInput(name string, b storage.Blob, t terms) (*s3.PutObjectInput, error) {
	sum, err := hex.DecodeString(b.SHA256())
	if err != nil {
		return nil, err
	}
	return &s3.PutObjectInput{
		Bucket: &a.cfg.Bucket, Key: &name, IfNoneMatch: aws.String("*"), ContentLength: aws.Int64(b.Size()),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum)), Metadata: t.metadata(),
		ServerSideEncryption: t.encryption(), SSEKMSKeyId: text(t.kms),
		ObjectLockMode: t.lock, ObjectLockRetainUntilDate: t.retainUntil(),
	}, nil
}

// whose returns nil if the object with a taken name is this writer's own, created by an
// earlier attempt whose answer was lost, and otherwise errTaken. It compares marks,
// because two writers can have equal bytes.
func (a *Archive) whose(ctx context.Context, name string, t terms) error {
	head, err := a.head(ctx, name, "")
	switch {
	case absent(err):
		return fmt.Errorf("the object was removed while it was written: %w", err)
	case err != nil:
		return err
	case head.Metadata[markName] != t.mark:
		return errTaken
	}
	return a.sameKey(head.ServerSideEncryption, aws.ToString(head.SSEKMSKeyId))
}

func (a *Archive) head(ctx context.Context, name, version string) (*s3.HeadObjectOutput, error) {
	var out *s3.HeadObjectOutput
	err := a.call(ctx, 0, func(ctx context.Context, client *s3.Client) (err error) {
		out, err = client.HeadObject(ctx, &s3.HeadObjectInput{
			Bucket: &a.cfg.Bucket, Key: &name, VersionId: text(version), ChecksumMode: types.ChecksumModeEnabled,
		})
		return err
	})
	return out, err
}

// sameKey checks the encryption that a server reports for an object.
func (a *Archive) sameKey(sse types.ServerSideEncryption, key string) error {
	want := a.cfg.KMSKeyID
	switch {
	case want == "":
		return nil
	case sse != types.ServerSideEncryptionAwsKms:
		return &NotEnforcedError{"SSE-KMS", fmt.Sprintf("the server stored an object with %q encryption, not with aws:kms; use one that encrypts, or leave out kms_key_id", sse)}
	case key == want, strings.HasSuffix(key, "/"+want), strings.HasSuffix(key, ":"+want):
		return nil
	case strings.Contains(want, "alias/") && key != "":
		return nil // the server reports the key of the alias
	}
	return &NotEnforcedError{"SSE-KMS", fmt.Sprintf("the server encrypted with the key %q, not with %q", key, want)}
}

// hashOf returns the checksum of a part in the form of S3: SHA-256 in base64.
func hashOf(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}
