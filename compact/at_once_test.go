package compact_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// TestAgentsAndOperatorsAtOnce runs agents of one session in several managers, like in
// several processes, two of them as the same agent, with deadlines that cut calls short.
// Meanwhile operators verify, scrub, hold, copy, export and, in every third seed, erase.
// COMPACT_SOAK=1 does so with more seeds.
func TestAgentsAndOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	seeds := 2 // without an erase
	if os.Getenv("COMPACT_SOAK") != "" {
		seeds = 120
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			atOnce(t, uint64(seed))
		})
	}
}

// scene is one session, with its agents and operators.
type scene struct {
	t      *testing.T
	seed   uint64
	preset string
	store  storage.Archive
	copy   storage.Archive
	erases bool
	leaked string // in every history, and not found by a rule
	closed chan struct{}
	heads  *record.Heads // of the operators

	copying sync.Mutex // no other writer may use a copy
}

func atOnce(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	presets := []string{"graduated", "economy", "summarize", "masking", "history-reducer", "gateway"}
	s := &scene{
		t: t, seed: seed, preset: presets[rng.IntN(len(presets))], copy: memory.New(), erases: seed%3 == 2,
		leaked: fmt.Sprintf("blue heron %d over the quay", seed), closed: make(chan struct{}),
	}
	if s.store = storage.Archive(memory.New()); seed%2 == 1 {
		a, err := fs.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		s.store = a
		defer a.Close()
	}
	s.heads = record.NewHeads(s.store, nil)
	managers := []*compact.CompactManager{s.manager(), s.manager(), s.manager()}
	var agents, operators sync.WaitGroup
	last := make([]*agentAtOnce, 5)
	for i := range last {
		last[i] = &agentAtOnce{scene: s, name: fmt.Sprintf("agent-%d", i%4), number: i % 4, m: managers[i%3], rng: rand.New(rand.NewPCG(seed, uint64(100+i)))}
		agents.Go(last[i].work)
	}
	for i := range 4 {
		operators.Go(func() { s.operate(rand.New(rand.NewPCG(seed, uint64(200+i)))) })
	}
	agents.Wait()
	close(s.closed)
	operators.Wait()
	for _, m := range managers {
		if err := m.Close(context.Background()); err != nil {
			t.Errorf("seed %d, %s: Close: %v", seed, s.preset, err)
		}
	}
	s.judge(last)
}

func (s *scene) manager() *compact.CompactManager {
	c := compact.Config{Preset: s.preset, Model: "gpt-4", MaxContextTokens: 6_000, Archive: s.store}
	c.Storage.Erased = "new"
	m, err := compact.New(context.Background(), c)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// agentAtOnce is one agent in one process.
type agentAtOnce struct {
	*scene
	name   string
	number int
	m      *compact.CompactManager
	rng    *rand.Rand
	res    *compact.Result // of the last call
	rounds int
}

func (a *agentAtOnce) history(rounds int) []message.Message {
	h := []message.Message{message.System("You fix bugs."), message.User(fmt.Sprintf("Make all tests of module_%d pass; the word is %s.", a.number, a.leaked))}
	for i := range rounds {
		id := fmt.Sprintf("call_%d_%d", a.number, i)
		h = append(h, message.Assistant("", message.Call(id, "read_file", fmt.Sprintf(`{"path":"pkg/file_%d_%d.go"}`, a.number, i))),
			message.ToolResult(id, fmt.Sprintf("file_%d_%d.go %s: %s", a.number, i, a.leaked, strings.Repeat("word ", 40+i*37%300))))
	}
	return h
}

func (a *agentAtOnce) work() {
	for a.rounds = 4; a.rounds < 60; a.rounds += 1 + a.rng.IntN(4) {
		h := a.history(a.rounds)
		for try := 0; ; try++ {
			ctx, cancel := context.Background(), context.CancelFunc(func() {})
			if try < 2 && a.rng.IntN(4) == 0 {
				ctx, cancel = context.WithTimeout(ctx, time.Duration(a.rng.IntN(8000))*time.Microsecond)
			}
			res, err := reusing(h, func(mine []message.Message) (*compact.Result, error) {
				return a.m.Preflight(ctx, "s", mine, compact.WithAgent(a.name))
			})
			cut := ctx.Err() != nil
			cancel()
			if err != nil && cut {
				continue
			}
			if err != nil {
				if (errors.Is(err, record.ErrErased) || errors.Is(err, record.ErrScrubbed)) && try < 20 {
					continue // twice within a call
				}
				a.t.Errorf("seed %d, %s, %s with %d rounds: %v", a.seed, a.preset, a.name, a.rounds, err)
				return
			}
			a.res = res
			break
		}
		paired(a.t, a.res.Messages)
		if a.res.After.Total > a.res.Budget {
			a.t.Errorf("seed %d: the view has %d tokens, but only %d fit", a.seed, a.res.After.Total, a.res.Budget)
		}
	}
}

// operate runs operations of operators until the agents are done. With
// COMPACT_SAMPLES=all it waits less between two operations.
func (s *scene) operate(rng *rand.Rand) {
	ctx, wait := context.Background(), 60
	if samples.All() {
		wait = 20
	}
	for {
		select {
		case <-s.closed:
			return
		case <-time.After(time.Duration(rng.IntN(wait)) * time.Millisecond):
		}
		log, err := record.OpenSession(ctx, s.store, "s")
		if err != nil {
			s.fails("open", err)
			continue
		}
		log.KeepHeads(s.heads)
		switch rng.IntN(7) {
		case 0, 1:
			s.proven("verify", s.store)
		case 2:
			_, err := compact.Scrub(ctx, log, compact.ScrubOptions{Secrets: []string{s.leaked}, Reason: redact.Lit("asked for")})
			s.fails("scrub", err)
		case 3:
			if err := log.Hold(ctx, redact.Lit("a case")); err == nil {
				time.Sleep(time.Duration(rng.IntN(10)) * time.Millisecond)
				s.fails("release", log.Release(ctx, redact.Lit("it is over")))
			} else {
				s.fails("hold", err)
			}
		case 4:
			s.copying.Lock()
			_, err := record.Copy(ctx, s.copy, s.store, record.CopyOptions{})
			if err == nil {
				s.proven("copy", s.copy)
			}
			s.copying.Unlock()
			if !errors.Is(err, storage.ErrExists) { // a scrubbed session is copied to an empty archive
				s.fails("copy", err)
			}
		case 5:
			var out bytes.Buffer
			err := log.Export(ctx, &out, record.ExportTarGz, record.ExportOptions{})
			if s.fails("export", err); err == nil {
				s.unpacked(out.Bytes())
			}
		case 6:
			if s.erases && rng.IntN(4) == 0 {
				_, err := log.Erase(ctx, redact.Lit("asked for"))
				s.fails("erase", err)
			}
		}
	}
}

// proven verifies the session during all other operations, in the archive or a copy of
// it.
func (s *scene) proven(what string, a storage.Archive) {
	r, err := record.Verify(context.Background(), a, "s", record.VerifyOptions{})
	if s.fails(what, err); err == nil && !r.OK() && !s.erases && !begins(r) {
		s.t.Errorf("seed %d, %s: %s beside all others: %v", s.seed, s.preset, what, r.Problems)
	}
}

// unpacked verifies an export.
func (s *scene) unpacked(export []byte) {
	dir := s.t.TempDir()
	a, err := fs.Open(dir)
	if err == nil {
		defer a.Close()
		err = unpack(export, dir)
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	s.proven("export", a)
}

// begins reports whether a session has logs and no manifest yet, which is the state
// before its first file.
func begins(r record.Report) bool {
	return len(r.Problems) == 1 && r.Problems[0].File == "manifest.jsonl" && r.Head == ""
}

// fails reports an error that the operations of others should not cause for an operator.
func (s *scene) fails(op string, err error) {
	if err == nil {
		return
	}
	for _, fine := range []error{record.ErrHeld, record.ErrScrubbed, record.ErrUnplaced, storage.ErrNotExist, record.ErrErased, record.ErrInUse} {
		if errors.Is(err, fine) {
			return
		}
	}
	s.t.Errorf("seed %d, %s: %s: %v", s.seed, s.preset, op, err)
}

// judge checks the final state: it is complete, another process sees the same view as
// the last one, and after a last scrub the leaked words occur nowhere.
func (s *scene) judge(all []*agentAtOnce) {
	ctx := context.Background()
	s.verified("in the end")
	fresh, other := s.manager(), s.manager()
	for _, a := range all[1:4] { // agent-0 works in two processes
		if a.res == nil {
			continue
		}
		h := a.history(a.rounds)
		one, err1 := fresh.Preflight(ctx, "s", h, compact.WithAgent(a.name))
		two, err2 := other.Preflight(ctx, "s", h, compact.WithAgent(a.name))
		if err1 != nil || err2 != nil || bytesOf(one.Messages) != bytesOf(two.Messages) {
			s.t.Errorf("seed %d, %s, %s: two processes have two views (%v, %v)", s.seed, s.preset, a.name, err1, err2)
		}
	}
	for _, m := range []*compact.CompactManager{fresh, other} {
		if err := m.Close(ctx); err != nil {
			s.t.Errorf("seed %d: Close: %v", s.seed, err)
		}
	}
	for info, err := range record.Sessions(ctx, s.store) {
		if err != nil {
			s.t.Fatal(err)
		}
		if s.scrubbed(info.Dir) {
			s.verified("after the last scrub")
			s.clean(info.Dir)
		}
	}
}

// verified verifies every session.
func (s *scene) verified(when string) {
	ctx := context.Background()
	for info, err := range record.Sessions(ctx, s.store) {
		if err != nil {
			s.t.Fatal(err)
		}
		if r, err := record.VerifyDir(ctx, s.store, info.Dir, record.VerifyOptions{}); err != nil || !r.OK() {
			s.t.Errorf("seed %d, %s, %s: %s verify returned %v (%v); want no problems and no error", s.seed, s.preset, info.Dir, when, r.Problems, err)
		}
	}
}

// scrubbed scrubs a session. It returns false if that must wait: for a minute after an
// interrupted call. COMPACT_SOAK=1 waits.
func (s *scene) scrubbed(dir string) bool {
	soak, ctx := os.Getenv("COMPACT_SOAK") != "", context.Background()
	if !soak {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
	}
	log, err := record.OpenDir(ctx, s.store, dir)
	if err != nil {
		s.t.Fatal(err)
	}
	_, err = compact.Scrub(ctx, log, compact.ScrubOptions{Secrets: []string{s.leaked}, Reason: redact.Lit("asked for")})
	if err != nil && (soak || !errors.Is(err, record.ErrInUse) && !errors.Is(err, context.DeadlineExceeded)) {
		s.t.Errorf("seed %d, %s: the last scrub: %v", s.seed, s.preset, err)
	}
	return err == nil
}

// clean searches the files of a session for the leaked words.
func (s *scene) clean(dir string) {
	ctx := context.Background()
	k, err := storage.ParseKey(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	for info, err := range s.store.List(ctx, k) {
		if err != nil {
			s.t.Fatal(err)
		}
		r, err := s.store.Open(ctx, info.Key, 0, -1)
		if err != nil {
			s.t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil || strings.Contains(string(b), s.leaked) {
			s.t.Errorf("seed %d, %s: %s still has the scrubbed text (%v)", s.seed, s.preset, info.Key, err)
		}
	}
}
