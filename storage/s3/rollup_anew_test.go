package s3_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// A log is recreated with pieces of the same lengths while a reader reads it. The
// reader writes a roll-up of the pieces that it read, then detects the other log, and
// removes the roll-up.
func TestRollupOfARecreatedLogIsRemoved(t *testing.T) {
	_, a, server, c := opened(t, nil)
	direct, k := open(t, server.Config(c.Bucket)), key(t, "s/log")
	secret := lines(t, direct, k, "", 4)
	if got, err := read(t.Context(), a, k, 0, -1); got != secret || err != nil {
		t.Fatalf("%q, %v; want %q and no error", got, err, secret)
	}
	must(t, direct.Remove(t.Context(), k))
	want := ""
	for line := range strings.Lines(secret) {
		line = strings.ReplaceAll(line, "line", "****")
		must(t, direct.Append(t.Context(), k, int64(len(want)), raw(line)))
		want += line
	}
	if err := a.Append(t.Context(), k, int64(len(secret)), raw("more\n")); !errors.Is(err, storage.ErrSeq) {
		t.Errorf("got %v, want ErrSeq", err)
	}
	if names := rollupsOf(t, server, c); len(names) > 0 {
		t.Errorf("%q are left", names)
	}
	if got, err := read(t.Context(), direct, k, 0, -1); got != want || err != nil {
		t.Errorf("the recreated log holds %q (%v); want %q and no error", got, err, want)
	}
}

// A scrub takes a secret out of the roll-ups too.
func TestAScrubLeavesNoSecretInARollup(t *testing.T) {
	const secret = "the-secret-of-somebody"
	_, a, server, c := opened(t, nil)
	s := session(t, a, "s")
	for range 5 {
		must(t, s.Events(t.Context(), []redact.Text{redact.Lit(`{"name":"` + secret + `"}`)}))
	}
	must(t, s.Checkpoint(t.Context()))
	holds := func() (n int) {
		for _, name := range server.Names(t, c.Bucket) {
			got, err := server.Admin.GetObject(t.Context(), &awss3.GetObjectInput{Bucket: &c.Bucket, Key: &name})
			must(t, err)
			data, err := io.ReadAll(got.Body)
			must(t, errors.Join(err, got.Body.Close()))
			if strings.Contains(string(data), secret) {
				n++
			}
		}
		return n
	}
	if n := holds(); n != 6 || len(rollupsOf(t, server, c)) != 1 {
		t.Fatalf("%d objects hold it, %q, want 6", n, rollupsOf(t, server, c))
	}
	_, err := session(t, open(t, c), "s").Scrub(t.Context(), record.ScrubOptions{Reason: redact.Lit("it leaked"), Find: func(_ string, line []byte) [][2]int {
		if i := strings.Index(string(line), secret); i >= 0 {
			return [][2]int{{i, i + len(secret)}}
		}
		return nil
	}})
	must(t, err)
	if n := holds(); n > 0 {
		t.Errorf("%d objects still hold it: %q, want none", n, server.Names(t, c.Bucket))
	}
}
