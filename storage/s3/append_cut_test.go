package s3_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/s3"
)

// The test loses one request of an append that rolls the log up and removes old roll-ups: the
// request itself, or its answer. Or it kills the process at this request. Afterwards the log has
// the line once, or not at all if the process was killed. The roll-ups equal their segments, and
// the next process can append.
func TestAppendSurvivesALostRequest(t *testing.T) {
	for what, c := range map[string]struct{ after, kill bool }{"lost": {}, "without an answer": {after: true}, "killed before": {kill: true}, "killed after": {after: true, kill: true}} {
		for at := int64(1); ; at++ {
			f, _, server, conf := opened(t, func(c *s3.Config) { c.Timeout = time.Second })
			k := key(t, "s/log")
			have := lines(t, open(t, server.Config(conf.Bucket)), k, "", 15)
			a := open(t, conf)
			_, err := read(t.Context(), a, k, 0, -1)
			must(t, err)
			have = lines(t, a, k, have, 1)
			ctx, kill := context.WithCancel(t.Context())
			var n atomic.Int64
			hit := func(*http.Request) bool {
				i := n.Add(1)
				if i == at && c.kill {
					kill()
				}
				return i == at || i > at && c.kill
			}
			f.set(func(f *front) { f.before, f.after = nil, hit })
			if !c.after {
				f.set(func(f *front) { f.before, f.after = hit, nil })
			}
			err = a.Append(ctx, k, int64(len(have)), raw("more\n"))
			kill()
			asked := f.asked()
			f.set(func(f *front) { f.before, f.after = nil, nil })
			if err != nil && !c.kill {
				t.Errorf("%s: request %d of %q: %v", what, at, asked, err)
			}
			next := open(t, server.Config(conf.Bucket))
			got, rerr := read(t.Context(), next, k, 0, -1)
			unlike, uerr := next.Unlike(t.Context(), k)
			if must(t, errors.Join(rerr, uerr)); got != have+"more\n" && (err == nil || got != have) || len(unlike) > 0 {
				t.Errorf("%s: request %d of %q: the log has %d bytes of %d, %q differ", what, at, asked, len(got), len(have), unlike)
			}
			must(t, next.Append(t.Context(), k, int64(len(got)), raw("next\n")))
			if n.Load() < at {
				if !slices.Contains(asked, rolledUp) || !slices.Contains(asked, http.MethodPost) {
					t.Errorf("nothing is rolled up, or no roll-up is removed: %q", asked)
				}
				break
			}
		}
	}
}

func TestOpeningSurvivesALostRequest(t *testing.T) {
	f, a, _, c := opened(t, nil)
	s := session(t, a, "s")
	for n := 1; n <= 3; n++ {
		must(t, tryWholeStepOf(t.Context(), s, n))
	}
	want := s.ManifestHead()
	for _, after := range []bool{false, true} {
		for at := int64(1); ; at++ {
			other, err := s3.New(c)
			must(t, err)
			var n atomic.Int64
			hit := func(*http.Request) bool { return n.Add(1) == at }
			f.set(func(f *front) { f.before, f.after = nil, hit })
			if !after {
				f.set(func(f *front) { f.before, f.after = hit, nil })
			}
			o, err := record.OpenSession(t.Context(), other, "s")
			asked := strings.Join(f.asked(), " ")
			f.set(func(f *front) { f.before, f.after = nil, nil })
			if what := fmt.Sprintf("after %v, request %d of %s", after, at, asked); err != nil || o.ManifestHead() != want {
				t.Errorf("%s: %v", what, err)
			}
			if n.Load() < at {
				break
			}
		}
	}
}
