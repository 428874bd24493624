package s3_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

func deleteObject(t testing.TB, s *s3test.Server, bucket, name string) {
	t.Helper()
	_, err := s.Admin.DeleteObject(t.Context(), &awss3.DeleteObjectInput{Bucket: &bucket, Key: &name})
	must(t, err)
}

func sizeOf(t testing.TB, a storage.Archive, k storage.Key) int64 {
	t.Helper()
	for info, err := range a.List(t.Context(), k) {
		must(t, err)
		return info.Size
	}
	t.Fatalf("%s is not listed", k)
	return 0
}

// The test runs eight writers, or 24 with COMPACT_SOAK=1. The work that prepares the
// writers grows with the square of their number.
func TestOneOfManyWritersCommitsAStep(t *testing.T) {
	sample(t)
	writers := 8
	if os.Getenv("COMPACT_SOAK") != "" {
		writers = 24
	}
	plain(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, false))
		sessions := make([]*record.Session, writers)
		for i := range sessions { // each archive acts like a separate process
			log, err := record.OpenSession(t.Context(), open(t, c), "s")
			must(t, err)
			_, err = log.Transcript(t.Context(), 1, []redact.Text{redact.Lit("{}")})
			must(t, err)
			sessions[i] = log
		}
		errs := make([]error, writers)
		begin := make(chan struct{})
		var group sync.WaitGroup
		for i, log := range sessions {
			group.Go(func() {
				<-begin
				_, errs[i] = log.Commit(t.Context(), 1, redact.Lit(`{"v":1}`))
			})
		}
		close(begin)
		group.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !errors.Is(err, storage.ErrExists):
				t.Errorf("a loser gets %v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d of %d won, want 1", won, writers)
		}
		r, err := record.Verify(t.Context(), open(t, c), "s", record.VerifyOptions{})
		must(t, err)
		if !r.OK() || r.Steps != 1 || len(r.Abandoned()) != writers-1 {
			t.Errorf("%d steps, %d abandoned, %v; want 1, %d and no problems", r.Steps, len(r.Abandoned()), r.Problems, writers-1)
		}
	})
}

// TestKilledServerLosesNothingAcknowledged kills the server again and again
// under two writers of one session. COMPACT_SOAK=1 does so more often.
func TestKilledServerLosesNothingAcknowledged(t *testing.T) {
	sample(t)
	kills := 3
	if os.Getenv("COMPACT_SOAK") != "" {
		kills = 60
	}
	for name, start := range map[string]func(*testing.T) *s3test.Process{
		"versitygw": s3test.StartVersitygw, "MinIO": func(t *testing.T) *s3test.Process { return s3test.StartMinIO(t) },
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t)
			s := s3test.Connect(t, p.Endpoint)
			c := s.Config(s.Bucket(t, false))
			stop := make(chan struct{})
			writers := make([]writer, 2)
			var group sync.WaitGroup
			for i := range writers {
				a := open(t, c)
				group.Go(func() { writers[i].steps(t, a, stop) })
			}
			for range kills {
				time.Sleep(250 * time.Millisecond)
				p.Kill()
				time.Sleep(100 * time.Millisecond)
				p.Start()
			}
			time.Sleep(250 * time.Millisecond)
			close(stop)
			group.Wait()
			r, err := record.Verify(t.Context(), open(t, c), "s", record.VerifyOptions{})
			must(t, err)
			for _, problem := range r.Problems {
				t.Errorf("verify: %s", problem)
			}
			acked, doubt := append(writers[0].acked, writers[1].acked...), writers[0].doubt+writers[1].doubt
			slices.Sort(acked)
			if n := len(slices.Compact(slices.Clone(acked))); n != len(acked) {
				t.Errorf("%d acknowledgments, and %d of them name the step of another acknowledgment", len(acked), len(acked)-n)
			}
			if len(acked) == 0 || r.Steps < acked[len(acked)-1] || r.Steps > len(acked)+doubt || doubt > 1+kills/10 {
				t.Errorf("the archive has %d steps, %d were acknowledged (the last is %v), and %d ended without an answer", r.Steps, len(acked), acked[max(0, len(acked)-1):], doubt)
			}
			t.Logf("%d kills, %d steps acknowledged, all there; %d ended without an answer", kills, len(acked), doubt)
		})
	}
}

// writer is one of several writers of a session, with the lines that it has seen.
type writer struct {
	acked []int // numbers of its steps
	doubt int   // steps that ended with an error of the server, and that may still be stored
}

// steps commits one step after the other. [record.Verify] finds a hole in their numbers.
func (w *writer) steps(t *testing.T, a storage.Archive, stop chan struct{}) {
	log, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Error(err)
		return
	}
	for {
		select {
		case <-stop:
			return
		default:
		}
		head, err := log.Head(t.Context())
		if err == nil {
			_, err = log.Transcript(t.Context(), head+1, []redact.Text{redact.Lit(`{"role":"tool","content":"some"}`)})
		}
		if err == nil {
			_, err = log.Commit(t.Context(), head+1, redact.Lit(`{"v":1}`))
		}
		switch {
		case err == nil:
			w.acked = append(w.acked, head+1)
		case errors.Is(err, storage.ErrDamaged), errors.Is(err, record.ErrErased):
			t.Error(err)
			return
		case !errors.Is(err, storage.ErrExists) && !errors.Is(err, record.ErrStep):
			t.Logf("without an answer: %v", err)
			w.doubt++
		}
	}
}

func TestManyNeighborsDoNotSlowAListing(t *testing.T) {
	f, a, s, c := opened(t, nil)
	const neighbors = 2500
	admin := s.Admin
	var group sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range neighbors {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			name := fmt.Sprintf("%s/s-%05d/f", c.Prefix, i)
			_, err := admin.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &c.Bucket, Key: &name, Body: strings.NewReader("x")})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	must(t, a.Create(t.Context(), key(t, "s/f"), raw("mine")))
	must(t, a.Append(t.Context(), key(t, "s/log"), 0, raw("line\n")))
	for prefix, want := range map[string]int{"s": 2, "s/log": 1, "s-00007": 1, "t": 0} {
		f.set(func(*front) {})
		n := 0
		for _, err := range a.List(t.Context(), key(t, prefix)) {
			must(t, err)
			n++
		}
		if n != want || len(f.asked()) > 2 {
			t.Errorf("%s: %d keys with %d requests, want %d", prefix, n, len(f.asked()), want)
		}
	}
	all := 0
	for _, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		all++
	}
	if all != neighbors+2 {
		t.Errorf("%d keys in all, want %d", all, neighbors+2)
	}
}

func TestFilesOfOthersAreForeign(t *testing.T) {
	_, a, s, c := opened(t, nil)
	must(t, a.Append(t.Context(), key(t, "s/log"), 0, raw("line\n")))
	for _, name := range []string{"s/README.TXT", "s/log!5", "s/log!00000000000000000005x", "Folder/x"} {
		full := c.Prefix + "/" + name
		_, err := s.Admin.PutObject(t.Context(), &awss3.PutObjectInput{Bucket: &c.Bucket, Key: &full, Body: strings.NewReader("x")})
		must(t, err)
	}
	var got []string
	for info, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		got = append(got, info.Key.String()+"|"+info.Foreign)
	}
	want := []string{"s/log|", "|Folder/x", "|s/README.TXT", "|s/log!00000000000000000005x", "|s/log!5"}
	slices.Sort(got)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("listed %q, want %q", got, want)
	}
	must(t, a.Append(t.Context(), key(t, "s/log"), 5, raw("more\n")))
	if got, err := read(t.Context(), a, key(t, "s/log"), 0, -1); got != "line\nmore\n" || err != nil {
		t.Errorf("the log holds %q, %v; want %q and no error", got, err, "line\nmore\n")
	}

}
