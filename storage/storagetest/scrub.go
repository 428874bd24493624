package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// scrubSecret is the secret that RunScrub scrubs.
const scrubSecret = "hunter2-of-alice"

// RunScrub tests interrupted scrubs. Each run interrupts the scrub at a different write:
// at every n-th one, where n is the parameter every; n is 1 with COMPACT_SOAK, and at
// least 27 with -short. Each interruption is tried with an agent that opened the session
// before the scrub, and with one that opens it afterwards; in a third run an agent writes
// during the scrub. Then the scrub is called again. No acknowledged write may be lost, the
// session must verify, and the secret must be gone.
func RunScrub(t *testing.T, open Opener, every int) {
	t.Helper()
	if os.Getenv("COMPACT_SOAK") != "" {
		every = 1
	} else if testing.Short() {
		every = max(every, shortEvery)
	}
	for at := 0; ; at += max(every, 1) {
		died := false
		for _, s := range []*scrubSweep{{early: true}, {}, {early: true, alive: true}} {
			s.at = at
			s.mine, s.others = open(t)
			if err := s.run(t.Context()); err != nil {
				t.Errorf("scrub that %s at write %d, agent that was there before: %t: %v", map[bool]string{true: "waited for an agent", false: "died"}[s.alive], at, s.early, err)
			}
			died = died || s.died
		}
		if !died || t.Failed() {
			if at < 20 && !t.Failed() {
				t.Errorf("the scrub had at most %d writes", at)
			}
			return
		}
	}
}

// shortEvery is the lower limit of the parameter every with -short.
const shortEvery = 27

// scrubSweep is one interrupted scrub.
type scrubSweep struct {
	mine, others storage.Archive // two archives of one place
	at           int
	early        bool // the agent opened the session before the scrub
	alive        bool // the scrub is not interrupted: the agent works during write number at
	died         bool

	agent *record.Session
	knows record.Stretch // lines that the agent refers to, from the time when it opened the session
	acked []string       // acknowledged lines
	steps int
}

func (s *scrubSweep) run(ctx context.Context) error {
	first, err := record.OpenSession(ctx, s.others, "s")
	if err != nil {
		return err
	}
	if s.early {
		s.agent = first
	}
	if err := s.leak(ctx, first); err != nil {
		return fmt.Errorf("before: %w", err)
	}
	if s.early {
		if err := s.learn(ctx); err != nil {
			return err
		}
	}
	if err := s.begin(ctx); err != nil {
		return fmt.Errorf("the scrub: %w", err)
	}
	if s.agent == nil {
		if err := s.reopen(ctx); err != nil {
			return err
		}
		if err := s.ledgersHold(ctx); err != nil {
			return fmt.Errorf("the session that was opened then: %w", err)
		}
	}
	for range 2 {
		if err := s.goOn(ctx); err != nil {
			return fmt.Errorf("the agent that continues: %w", err)
		}
	}
	if err := s.scrub(ctx, s.mine, 0); err != nil {
		return fmt.Errorf("the scrub, called again: %w", err)
	}
	if err := s.goOn(ctx); err != nil {
		return fmt.Errorf("after that: %w", err)
	}
	return s.judge(ctx)
}

// begin runs the scrub up to the interruption, or with a concurrent agent.
func (s *scrubSweep) begin(ctx context.Context) error {
	m := &mortal{Archive: s.mine, left: s.at}
	lease := time.Millisecond
	if s.alive {
		lease = 0
	}
	worked := make(chan error, 1)
	m.meanwhile = func() {
		go func() { worked <- s.goOn(ctx) }()
		const patience = 30 * time.Millisecond // the agent can wait for the scrub
		select {
		case err := <-worked:
			worked <- err
		case <-time.After(patience):
		}
	}
	if !s.alive {
		m.meanwhile = nil
	}
	err := s.scrub(ctx, m, lease)
	if s.alive && m.left < 0 {
		if err := <-worked; err != nil {
			return fmt.Errorf("the agent beside it: %w", err)
		}
	}
	if s.died = errors.Is(err, errMortal); s.died || s.alive && errors.Is(err, record.ErrInUse) {
		return nil
	}
	return err
}

func (s *scrubSweep) scrub(ctx context.Context, a storage.Archive, lease time.Duration) error {
	log, err := record.OpenSession(ctx, a, "s")
	if err != nil {
		return err
	}
	_, err = log.Scrub(ctx, record.ScrubOptions{Find: findSecret, Lease: lease})
	return err
}

func findSecret(_ string, line []byte) (all [][2]int) {
	for at := 0; ; {
		i := bytes.Index(line[at:], []byte(scrubSecret))
		if i < 0 {
			return all
		}
		at += i + len(scrubSecret)
		all = append(all, [2]int{at - len(scrubSecret), at})
	}
}

var sharedLine = redact.Lit(`{"role":"user","content":"it is hunter2-of-alice"}`)

// leak stores the secret in every kind of file.
func (s *scrubSweep) leak(ctx context.Context, log *record.Session) error {
	said := []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`), sharedLine}
	_, err := log.Transcript(ctx, 1, said)
	_, serr := log.Summary(ctx, 1, redact.Lit(`{"text":"they said hunter2-of-alice"}`))
	err = errors.Join(err, serr,
		log.Events(ctx, []redact.Text{redact.Lit(`{"name":"one","data":"hunter2-of-alice"}`), redact.Lit(`{"name":"two"}`)}),
		log.Journal(ctx, []redact.Text{sharedLine}))
	_, eerr := log.Edits(ctx, []redact.Text{redact.Lit(`{"original":"hunter2-of-alice"}`)})
	_, cerr := log.Commit(ctx, 1, redact.Lit(`{"v":1,"said":"hunter2-of-alice"}`))
	s.steps = 1
	return errors.Join(err, eerr, cerr, log.Checkpoint(ctx))
}

// goOn makes an agent commit a step that refers to the first agent's files.
func (s *scrubSweep) goOn(ctx context.Context) error {
	for range 3 {
		err := s.step(ctx)
		if !errors.Is(err, record.ErrScrubbed) {
			return err
		}
		if err := s.reopen(ctx); err != nil {
			return err
		}
	}
	return record.ErrScrubbed
}

func (s *scrubSweep) reopen(ctx context.Context) (err error) {
	if s.agent, err = record.OpenSession(ctx, s.others, "s"); err != nil {
		return err
	}
	if _, err = s.agent.EndScrub(ctx); err != nil {
		return err
	}
	return s.learn(ctx)
}

// learn records the agent's reference to the first transcript.
func (s *scrubSweep) learn(ctx context.Context) error {
	const name = "transcript-pre-compact-001.jsonl"
	data, err := readKey(ctx, s.others, key("s/"+name))
	s.knows = record.Stretch{From: name, First: 1, Lines: 2, Len: int64(len(data)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(data)))}
	return err
}

var goingOn = []redact.Text{redact.Lit(`{"late":1}`), redact.Lit(`{"late":2}`), redact.Lit(`{"late":3}`)}

func (s *scrubSweep) step(ctx context.Context) error {
	if err := s.agent.Events(ctx, goingOn); err != nil {
		return err
	}
	s.acked = append(s.acked, "events.jsonl", "events.jsonl", "events.jsonl")
	if err := s.agent.Journal(ctx, goingOn[:1]); err != nil {
		return err
	}
	s.acked = append(s.acked, "journal.jsonl")
	if err := s.agent.Checkpoint(ctx); err != nil {
		return err
	}
	if _, err := s.agent.Edits(ctx, goingOn[:1]); err != nil {
		return err
	}
	s.acked = append(s.acked, "edits.jsonl")
	var c record.Content
	c.Same(s.knows)
	c.Line(redact.Lit(`{"role":"user","content":"and on"}`))
	if _, err := s.agent.TranscriptOf(ctx, s.steps+1, &c); err != nil {
		return err
	}
	if _, err := s.agent.Commit(ctx, s.steps+1, redact.Lit(`{"v":1}`)); err != nil {
		return err
	}
	s.steps++
	return nil
}

func (s *scrubSweep) ledgersHold(ctx context.Context) error {
	n := 0
	for l, err := range s.agent.Ledgers(ctx, 1) {
		if err != nil {
			return err
		}
		if l.Changed != nil {
			return l.Changed
		}
		n++
	}
	if n != s.steps {
		return fmt.Errorf("%d ledgers of %d", n, s.steps)
	}
	return nil
}

// judge checks the final state.
func (s *scrubSweep) judge(ctx context.Context) error {
	for _, log := range []string{"events.jsonl", "journal.jsonl", "edits.jsonl"} {
		want := 0
		for _, name := range s.acked {
			if name == log {
				want++
			}
		}
		data, err := readKey(ctx, s.others, key("s/"+log))
		if err != nil {
			return err
		}
		if got := strings.Count(data, `"late":`); got != want {
			return fmt.Errorf("%s has %d of the %d lines that were acknowledged", log, got, want)
		}
	}
	for info, err := range s.others.List(ctx, storage.Key{}) {
		if err != nil {
			return err
		}
		data, err := readKey(ctx, s.others, info.Key)
		if err != nil {
			return err
		}
		if strings.Contains(data, scrubSecret) {
			return fmt.Errorf("%s has the secret", info.Key)
		}
		if strings.HasPrefix(info.Key.Base(), "scrub.") {
			return fmt.Errorf("%s is left", info.Key)
		}
	}
	r, err := record.Verify(ctx, s.others, "s", record.VerifyOptions{})
	if err == nil && (!r.OK() || r.Steps != s.steps) {
		err = fmt.Errorf("verify: %d steps of %d, %v", r.Steps, s.steps, r.Problems)
	}
	return errors.Join(err, s.ledgersHold(ctx))
}

func readKey(ctx context.Context, a storage.Archive, k storage.Key) (string, error) {
	r, err := a.Open(ctx, k, 0, -1)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	return string(data), errors.Join(err, r.Close())
}

var errMortal = errors.New("the process is dead")

// mortal is an archive whose process dies after left more changes. After that each change
// fails. If meanwhile is set, the archive calls meanwhile once in place of the failure,
// and makes the change. Optional interfaces other than [storage.Remover] are hidden.
type mortal struct {
	storage.Archive
	left      int
	meanwhile func() // called instead of dying; nil = the process dies
}

func (m *mortal) may() error {
	if m.left--; m.left >= 0 {
		return nil
	}
	if m.meanwhile == nil {
		return errMortal
	}
	if m.left == -1 {
		m.meanwhile()
	}
	return nil
}

// Create implements [storage.Archive].
func (m *mortal) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := m.may(); err != nil {
		return err
	}
	return m.Archive.Create(ctx, k, b)
}

// Append implements [storage.Archive].
func (m *mortal) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := m.may(); err != nil {
		return err
	}
	return m.Archive.Append(ctx, k, seq, b)
}

// Remove implements [storage.Remover].
func (m *mortal) Remove(ctx context.Context, k storage.Key) error {
	if err := m.may(); err != nil {
		return err
	}
	return m.Archive.(storage.Remover).Remove(ctx, k)
}
