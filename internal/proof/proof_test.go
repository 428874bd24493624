package proof

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/replay"
	"github.com/agentcompact/compact/token"
)

// go test ./internal/proof -update, or make proof, writes the tables.
var update = flag.Bool("update", false, "write the tables")

const (
	mark     = "proof"          // the fixed set
	recorded = "proof-recorded" // sessions of ../shared/transcripts
)

// large lists the recorded sessions of the second table.
var large = replay.AtLeast{Tokens: 60_000, Calls: 15}

var documents = []string{"../../README.md", "../../docs/BENCHMARKS.md"}

// The committed table equals the table that the code makes.
func TestCommittedTableMatchesTheCode(t *testing.T) {
	if testing.Short() {
		t.Skip("a replay of the fixed set takes seconds")
	}
	rep, err := Run(t.Context(), replay.Of(Sessions()...), Windows, replay.AtLeast{})
	if err == nil {
		err = rep.Err()
	}
	if err != nil {
		t.Fatal(err)
	}
	write(t, mark, Table(rep)+"\n"+Caption(rep, "generated sessions of coding, support and research (`internal/proof`)", "make proof"), !*update)
}

// If COMPACT_PROOF_TRANSCRIPTS is set, the test writes the second table, of
// recorded sessions.
func TestTheTableOfRecordedSessions(t *testing.T) {
	folder := os.Getenv("COMPACT_PROOF_TRANSCRIPTS")
	if folder == "" || !*update {
		t.Skip("make proof TRANSCRIPTS=../shared/transcripts writes it")
	}
	files, err := replay.Files(filepath.Join(folder, "chat"))
	if err != nil {
		t.Fatal(err)
	}
	rep, err := Run(t.Context(), replay.From(files, "auto"), Wide, large)
	if err != nil {
		t.Fatal(err)
	}
	write(t, recorded, Table(rep)+"\n"+Caption(rep, "recorded sessions of "+large.String()+" or more", "make proof TRANSCRIPTS=../shared/transcripts"), false)
}

// write puts a table into the documents, or compares it with them.
func write(t *testing.T, mark, text string, check bool) {
	t.Helper()
	for _, file := range documents {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if check {
			if diff := cmp.Diff(Between(string(data), mark), text); diff != "" {
				t.Errorf("%s does not match the code; make proof writes it (-committed +made):\n%s", filepath.Base(file), diff)
			}
			continue
		}
		if mark == recorded && !strings.Contains(string(data), mark) {
			continue
		}
		out, err := Put(string(data), mark, text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if err := os.WriteFile(file, []byte(out), 0o644); err != nil { //nolint:gosec // a document
			t.Fatal(err)
		}
	}
}

// Every new preset must be in the tables.
func TestTheTablesHaveEveryPreset(t *testing.T) {
	policies, err := Policies()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range policies {
		names = append(names, p.Name())
	}
	for _, want := range slices.Concat(compact.Presets(), References()) {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in the tables: %v", want, names)
		}
	}
}

func TestSessionsAreLargeAndTheSameEveryTime(t *testing.T) {
	c, err := token.ForModel(model)
	if err != nil {
		t.Fatal(err)
	}
	count, err := token.NewEstimator(model, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := Sessions(), Sessions()
	if len(first) != 6 {
		t.Fatalf("%d sessions", len(first))
	}
	for i, s := range first {
		if n := count.Messages(s.Messages); n < 60_000 || n > 120_000 {
			t.Errorf("%s has %d tokens", s.Name, n)
		}
		a, errA := json.Marshal(s.Messages)
		b, errB := json.Marshal(second[i].Messages)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs each time", s.Name)
		}
	}
}

func TestPutReplacesTextBetweenMarkers(t *testing.T) {
	const document = "a\n<!-- x -->\nold\n<!-- /x -->\nb\n"
	got, err := Put(document, "x", "new\n")
	if err != nil || got != strings.Replace(document, "old", "new", 1) || Between(got, "x") != "new\n" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Put(document, "y", "new\n"); err == nil {
		t.Error("Put accepts a document without the marks of the table")
	}
}
