package s3_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// documented returns the policy in docs/SECURITY.md for a bucket.
func documented(t *testing.T, bucket string) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/SECURITY.md")
	must(t, err)
	m := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(doc)
	if m == nil {
		t.Fatal("there is no policy in docs/SECURITY.md")
	}
	policy := strings.ReplaceAll(string(m[1]), "BUCKET", bucket)
	// MinIO has keys of its own, which an S3 policy can't grant.
	return regexp.MustCompile(`(?m)^.*kms:GenerateDataKey.*\n`).ReplaceAllString(policy, "")
}

// TestDocumentedPolicyIsSufficientAndMinimal gives an archive only the rights
// in docs/SECURITY.md.
func TestDocumentedPolicyIsSufficientAndMinimal(t *testing.T) {
	s := s3test.MinIO(t)
	bucket := s.Bucket(t, true)
	id, secret := s3test.Keys(t)
	policy := documented(t, bucket)
	out, err := sts.New(sts.Options{BaseEndpoint: &s.Endpoint, Region: "us-east-1", Credentials: aws.CredentialsProviderFunc(static(id, secret))}).
		AssumeRole(t.Context(), &sts.AssumeRoleInput{RoleArn: aws.String("arn:x:ignored:by:this:server"), RoleSessionName: aws.String("archiver"), Policy: &policy})
	must(t, err)
	t.Setenv("AWS_ACCESS_KEY_ID", *out.Credentials.AccessKeyId)
	t.Setenv("AWS_SECRET_ACCESS_KEY", *out.Credentials.SecretAccessKey)
	t.Setenv("AWS_SESSION_TOKEN", *out.Credentials.SessionToken)
	for what, change := range map[string]func(*s3.Config){
		"plain": func(*s3.Config) {}, "locked": func(c *s3.Config) { c.Lock = s3.Lock{Mode: s3.Governance, Days: 1} },
		"encrypted": func(c *s3.Config) { c.KMSKeyID = s3test.KMSKey(t) },
	} {
		c := s.Config(bucket)
		change(&c)
		a := open(t, c)
		must(t, a.Create(t.Context(), key(t, "s/"+what), raw("x")))
		must(t, a.Create(t.Context(), key(t, "s/large-"+what), raw(strings.Repeat("x", 17<<20))))
		must(t, a.Append(t.Context(), key(t, "s/log-"+what), 0, raw("one\n")))
		must(t, a.Append(t.Context(), key(t, "s/log-"+what), 4, raw("two\n")))
		if got, err := read(t.Context(), a, key(t, "s/log-"+what), 0, -1); got != "one\ntwo\n" || err != nil {
			t.Errorf("%s: the log holds %q, %v; want %q and no error", what, got, err, "one\ntwo\n")
		}
		if _, err := read(t.Context(), a, key(t, "s/none"), 0, -1); !errors.Is(err, storage.ErrNotExist) {
			t.Errorf("%s: a missing object: %v, want ErrNotExist", what, err)
		}
		if err := a.Remove(t.Context(), key(t, "s/"+what)); err == nil {
			t.Errorf("%s: an agent may delete", what)
		}
	}
	elsewhere := s.Config(bucket)
	elsewhere.Prefix = "team/others"
	if _, err := s3.Open(t.Context(), elsewhere); err == nil {
		t.Error("another team's prefix can be written")
	}
}
