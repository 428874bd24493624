package storage_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

func TestBlobReadsAndSeeksLikeItsBytes(t *testing.T) {
	whole := strings.Repeat("0123456789", 60_000)
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	b := storage.Redacted(r.Text(whole[:1]), r.Text(""), r.Text(whole[1:300_000]), r.Text(whole[300_000:300_000]), r.Text(whole[300_000:]))
	var out bytes.Buffer
	if n, err := b.WriteTo(&out); n != int64(len(whole)) || err != nil || out.String() != whole || b.Size() != n {
		t.Fatalf("WriteTo: %d, %v", n, err)
	}
	if b.SHA256() != fmt.Sprintf("%x", sha256.Sum256([]byte(whole))) {
		t.Error("SHA256 is not the hash of the blob's bytes")
	}
	want, got := strings.NewReader(whole), b.Reader()
	for _, step := range []struct {
		off    int64
		whence int
		n      int
	}{{0, 0, 5}, {3, 1, 400_000}, {-10, 2, 20}, {299_999, 0, 2}, {0, 2, 1}, {700_000, 0, 1}, {-1, 0, 3}, {-700_000, 2, 3}, {0, 0, 600_000}} {
		at1, err1 := want.Seek(step.off, step.whence)
		at2, err2 := got.Seek(step.off, step.whence)
		if (err1 == nil) != (err2 == nil) || err1 == nil && at1 != at2 {
			t.Errorf("%+v: at %d, %v; want %d, %v", step, at2, err2, at1, err1)
		}
		p1, p2 := make([]byte, step.n), make([]byte, step.n)
		n1, err1 := want.Read(p1)
		n2, err2 := got.Read(p2)
		if n1 != n2 || !bytes.Equal(p1, p2) || err1 != err2 {
			t.Errorf("%+v: read %d, %v; want %d, %v", step, n2, err2, n1, err1)
		}
	}
}
