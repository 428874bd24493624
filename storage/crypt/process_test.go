package crypt_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
)

// The test starts its own binary again as a process that archives, prints its
// durable data, and is killed.
const workerRoot, workerTo = "COMPACT_CRYPT_ROOT", "COMPACT_CRYPT_RECIPIENT"

func TestMain(m *testing.M) {
	if os.Getenv(workerRoot) == "" {
		os.Exit(m.Run())
	}
	if err := work(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(ctx context.Context) error {
	inner, err := fs.Open(os.Getenv(workerRoot))
	if err != nil {
		return err
	}
	identities, err := crypt.IdentityText()
	if err != nil {
		return err
	}
	k, err := crypt.NewKeys([]string{os.Getenv(workerTo)}, identities)
	if err != nil {
		return err
	}
	s, err := record.OpenSession(ctx, crypt.New(inner, k), "s")
	if err != nil {
		return err
	}
	for {
		head, err := s.Head(ctx)
		if err != nil {
			return err
		}
		if _, err := s.Transcript(ctx, head+1, []redact.Text{redact.Lit(`{"content":"a message"}`)}); err != nil {
			return err
		}
		if err := s.Events(ctx, []redact.Text{redact.Lit(`{"name":"one"}`)}); err != nil {
			return err
		}
		if _, err := s.Commit(ctx, head+1, redact.Lit(`{"v":1}`)); err != nil {
			return err
		}
		if _, err := fmt.Println("step", head+1); err != nil {
			return err
		}
	}
}

// TestKilledProcessesLoseNothing kills a process at random points, again and again,
// and another continues. COMPACT_KILLS sets the number of kills.
func TestKilledProcessesLoseNothing(t *testing.T) {
	kills := 3
	if v := os.Getenv("COMPACT_KILLS"); v != "" {
		_, err := fmt.Sscan(v, &kills)
		must(t, err)
	}
	p, root := newPair(t), t.TempDir()
	said := 0
	for i := range kills {
		said = max(said, killed(t, p, root, 1+i%4))
	}
	s, err := record.OpenSession(t.Context(), crypt.New(folder(t, root), keys(t, p.identity, p)), "s")
	must(t, err)
	step(t, s, said+1+committedBeyond(t, s, said))
	r, err := s.Verify(t.Context(), record.VerifyOptions{})
	must(t, err)
	if !r.OK() || r.Steps <= said {
		t.Errorf("after %d kills: %d steps of %d, %q; want more than %d and no problems", kills, r.Steps, said+1, r.Problems, said)
	}
}

// committedBeyond returns the number of committed steps that were not printed.
func committedBeyond(t *testing.T, s *record.Session, said int) int {
	t.Helper()
	head, err := s.Head(t.Context())
	must(t, err)
	return head - said
}

// killed makes a process take some steps, and kills it in the next.
func killed(t *testing.T, p pair, root string, steps int) (last int) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.CommandContext(t.Context(), exe)
	var said strings.Builder
	cmd.Env, cmd.Stderr = append(os.Environ(), workerRoot+"="+root, workerTo+"="+p.recipient, crypt.IdentityVariable+"="+p.identity), &said
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for i := 0; i < steps && lines.Scan(); i++ {
		_, err := fmt.Sscanf(lines.Text(), "step %d", &last)
		must(t, err)
	}
	must(t, cmd.Process.Kill())
	for lines.Scan() { // the output of the process before it died
		_, _ = fmt.Sscanf(lines.Text(), "step %d", &last)
	}
	_ = cmd.Wait() // the process was killed
	if said.Len() > 0 {
		t.Fatalf("the process ended by itself: %s", said.String())
	}
	return last
}
