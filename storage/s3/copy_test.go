package s3_test

import (
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// TestSessionsMoveIntoABucketAndBack: sessions move with their holds,
// tombstones and heads.
func TestSessionsMoveIntoABucketAndBack(t *testing.T) {
	ctx, src := t.Context(), memory.New()
	h := record.NewHeads(src, nil)
	for _, id := range []string{"alice", "carol"} {
		x, err := record.OpenSession(ctx, src, id)
		must(t, err)
		x.KeepHeads(h)
		_, err = x.Originals(ctx, 1, []redact.Text{redact.Lit(`{"a":1}`)})
		must(t, err)
		_, err = x.Commit(ctx, 1, redact.Lit(`{"v":1}`))
		must(t, err)
		must(t, x.Hold(ctx, redact.Lit("a case")))
		if id == "carol" {
			must(t, x.Release(ctx, redact.Lit("over")))
			_, err = x.Erase(ctx, redact.Lit("asked for"))
			must(t, err)
		}
	}
	s := s3test.Plain(t)
	bucket, back := open(t, s.Config(s.Bucket(t, false))), memory.New()
	for _, way := range [][2]storage.Archive{{bucket, src}, {back, bucket}} {
		_, err := record.Copy(ctx, way[0], way[1], record.CopyOptions{})
		must(t, err)
		book, err := record.ReadHeads(ctx, way[0], record.HeadsOptions{})
		must(t, err)
		gone, err := book.Vanished(ctx, way[0])
		must(t, err)
		r, err := record.Verify(ctx, way[0], "alice", record.VerifyOptions{Heads: book})
		must(t, err)
		if !r.OK() || !r.TailProven || len(gone) > 0 {
			t.Errorf("%q, proven %v, gone %v; want no problems and true", r.Problems, r.TailProven, gone)
		}
	}
	for info, err := range src.List(ctx, storage.Key{}) {
		must(t, err)
		want, err := read(ctx, src, info.Key, 0, -1)
		must(t, err)
		got, err := read(ctx, back, info.Key, 0, -1)
		must(t, err)
		if got != want {
			t.Errorf("%s changed", info.Key)
		}
	}
}
