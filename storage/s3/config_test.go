package s3

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/agentcompact/compact/storage"
)

func TestConfigNamesEveryMistake(t *testing.T) {
	good := Config{Bucket: "compliance-archive", Prefix: "team/agents"}
	for _, c := range []struct {
		what   string
		change func(*Config)
		want   []string
	}{
		{"good", func(*Config) {}, nil},
		{"good, with everything", func(c *Config) {
			c.Endpoint, c.Lock, c.KMSKeyID = "https://minio.internal:9000", Lock{Compliance, 365}, "alias/archive"
		}, nil},
		{"no bucket", func(c *Config) { c.Bucket = "" }, []string{"bucket"}},
		{"a URL for a bucket", func(c *Config) { c.Bucket = "s3://b" }, []string{"bucket"}},
		{"slashes around", func(c *Config) { c.Prefix = "/a/" }, []string{"prefix"}},
		{"a parent folder", func(c *Config) { c.Prefix = "a/../b" }, []string{"prefix"}},
		{"a character of segments", func(c *Config) { c.Prefix = "a!b" }, []string{"prefix"}},
		{"too long", func(c *Config) { c.Prefix = strings.Repeat("a", 401) }, []string{"prefix"}},
		{"no scheme", func(c *Config) { c.Endpoint = "minio:9000" }, []string{"endpoint"}},
		{"a password", func(c *Config) { c.Endpoint = "https://me:hunter2@minio" }, []string{"endpoint"}},
		{"days without mode", func(c *Config) { c.Lock.Days = 3 }, []string{"object_lock.days"}},
		{"mode without days", func(c *Config) { c.Lock.Mode = Governance }, []string{"object_lock.days"}},
		{"no such mode", func(c *Config) { c.Lock = Lock{"forever", 3} }, []string{"object_lock.mode"}},
		{"several", func(c *Config) { c.Bucket, c.Timeout = "X", -1 }, []string{"bucket", "timeout"}},
	} {
		cfg := good
		c.change(&cfg)
		err := cfg.Check()
		var got []string
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				var at *ConfigError
				if errors.As(e, &at) {
					got = append(got, at.Field)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q (%v)", c.what, got, c.want, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error shows a password: %v", c.what, err)
		}
		if _, nerr := New(cfg); (nerr == nil) != (err == nil) {
			t.Errorf("%s: New returned %v", c.what, nerr)
		}
	}
}

func TestLocationIsAParsableURL(t *testing.T) {
	k, err := storage.ParseKey("s/ledger-001.json")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{"": "s3://bkt/s/ledger-001.json", "a/b": "s3://bkt/a/b/s/ledger-001.json"} {
		a, err := New(Config{Bucket: "bkt", Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Location(k); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if b, p, ok := ParseURL(a.Location(storage.Key{})); b != "bkt" || p != prefix || !ok {
			t.Errorf("read again: %q %q %t, want %q, %q and true", b, p, ok, "bkt", prefix)
		}
	}
	for _, s := range []string{"", "/folder", "s3:/b", "s3://", "s3:///p", "https://b/p"} {
		if b, p, ok := ParseURL(s); ok {
			t.Errorf("%q reads as %q, %q", s, b, p)
		}
	}
}

func TestUnrequestedKeyIsDetected(t *testing.T) {
	const arn = "arn:aws:kms:eu-central-1:111122223333:key/"
	for _, c := range []struct {
		want, sse, key string
		same           bool
	}{
		{"", "AES256", "", true}, {"k1", "aws:kms", "k1", true}, {"k1", "aws:kms", arn + "k1", true}, {"k1", "aws:kms", "arn:aws:kms:k1", true},
		{"k1", "aws:kms", "k2", false}, {"k1", "aws:kms", arn + "not-k1", false}, {"k1", "aws:kms", "", false}, {"k1", "AES256", "k1", false}, {"k1", "", "", false},
		{"alias/archive", "aws:kms", arn + "k1", true}, {"alias/archive", "aws:kms", "", false}, {"alias/archive", "", "", false},
	} {
		a, err := New(Config{Bucket: "bucket", KMSKeyID: c.want})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.sameKey(types.ServerSideEncryption(c.sse), c.key); (err == nil) != c.same || err != nil && !errors.Is(err, ErrNotEnforced) {
			t.Errorf("asked for %q, encrypted with %q by %q: %v", c.want, c.key, c.sse, err)
		}
	}
}

func FuzzSegmentName(f *testing.F) {
	f.Add("s/log!00000000000000000005", int64(5))
	f.Add("s/log!5", int64(-1))
	f.Add("!00000000000000000000", int64(1<<62))
	f.Add("a!b!00000000000000000001", int64(0))
	f.Fuzz(func(t *testing.T, name string, start int64) {
		if key, at, ok := parseSegment(name); ok && segmentName(key, at) != name {
			t.Errorf("%q reads as %q at %d, which is %q", name, key, at, segmentName(key, at))
		}
		k, err := storage.ParseKey(name)
		if err != nil || start < 0 {
			return
		}
		if key, at, ok := parseSegment(segmentName(k.String(), start)); !ok || key != k.String() || at != start {
			t.Errorf("%q at %d reads as %q at %d, %t, want true", k, start, key, at, ok)
		}
	})
}

func TestSegmentsSortLikeTheirKey(t *testing.T) {
	names := []string{"s/log", segmentName("s/log", 0), segmentName("s/log", 9), segmentName("s/log", 10), segmentName("s/log", 1<<62),
		"s/log%2f", "s/log+1", "s/log-2", "s/log.3", "s/log/x", "s/log0", "s/loga"}
	if !slices.IsSorted(names) {
		t.Errorf("not sorted: %q", names)
	}
}

func TestPiecesOfALogAreCutAtTheRequestedOffsets(t *testing.T) {
	all := []segment{{start: 0, size: 10}, {start: 10, size: 5}, {start: 15, size: 20}}
	for _, c := range []struct {
		off, n int64
		want   []piece
	}{
		{0, -1, []piece{{start: 0, n: 10}, {start: 10, n: 5}, {start: 15, n: 20}}},
		{10, -1, []piece{{start: 10, n: 5}, {start: 15, n: 20}}},
		{9, 2, []piece{{start: 0, off: 9, n: 1}, {start: 10, n: 1}}},
		{12, 100, []piece{{start: 10, off: 2, n: 3}, {start: 15, n: 20}}},
		{3, 4, []piece{{start: 0, off: 3, n: 4}}},
		{35, -1, nil}, {100, 5, nil}, {5, 0, nil},
	} {
		same := func(x, y piece) bool {
			return x.start == y.start && x.off == y.off && x.n == y.n && all[x.first].start == x.start
		}
		if got := cut(all, c.off, c.n); !slices.EqualFunc(got, c.want, same) {
			t.Errorf("%d bytes from %d: %+v, want %+v", c.n, c.off, got, c.want)
		}
	}
}
