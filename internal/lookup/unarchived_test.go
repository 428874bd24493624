package lookup_test

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// parts is a book that knows which parts of edits.jsonl no step has archived.
type parts struct {
	lookup.Book
	spans []ledger.Span
}

func (p parts) Unarchived() []ledger.Span { return p.spans }

// Only the parts of the log with originals that no step has archived are read. Changed
// lines in these parts are left out, and so are the lines about edits.
func TestUnarchivedReadsItsPartsAndNoChangedLine(t *testing.T) {
	ctx, a := t.Context(), memory.New()
	log, err := record.OpenSession(ctx, a, "s")
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{`{"role":"tool","content":"one"}`, `{"edit":{"v":2}}`, `{"role":"tool","content":"two"}`, `{"role":"tool","content":"six"}`, `{"edit":{"v":2}}`, `{"role":"tool","content":"end"}`}
	if _, err := log.Edits(ctx, texts(t, lines)); err != nil {
		t.Fatal(err)
	}
	var at []int64
	for l, err := range log.EditsLines(ctx, 0) {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, l.Off)
	}
	read := func(a storage.Archive, spans ...ledger.Span) (got []string) {
		t.Helper()
		log, err := record.OpenSession(ctx, a, "s")
		if err != nil {
			t.Fatal(err)
		}
		for line, err := range lookup.New("s", log, parts{spans: spans}).Unarchived(ctx) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(line))
		}
		return got
	}
	const end = 1 << 40
	for _, c := range []struct {
		spans []ledger.Span
		want  []string
	}{
		{nil, nil},
		{[]ledger.Span{{From: 0, To: at[2]}}, lines[:1]},
		{[]ledger.Span{{From: at[2], To: at[5]}}, lines[2:4]},
		{[]ledger.Span{{From: 0, To: at[2]}, {From: at[5], To: end}}, []string{lines[0], lines[5]}},
		{[]ledger.Span{{From: 0, To: end}}, []string{lines[0], lines[2], lines[3], lines[5]}},
	} {
		if got := read(a, c.spans...); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.spans, got, c.want)
		}
	}
	if got := read(changed(t, a, "two", "ten"), ledger.Span{From: at[2], To: at[5]}); !slices.Equal(got, lines[3:4]) {
		t.Errorf("a line was changed: %q", got)
	}
}

// texts returns raw lines.
func texts(t *testing.T, lines []string) (out []redact.Text) {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		out = append(out, r.Text(l))
	}
	return out
}

// changed returns an archive that has the edits of session s with other words in them.
func changed(t *testing.T, a storage.Archive, word, other string) storage.Archive {
	t.Helper()
	out := memory.New()
	k, err := record.SessionKey("s", "edits.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f, err := a.Open(t.Context(), k, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Create(t.Context(), k, storage.Redacted(texts(t, []string{string(bytes.ReplaceAll(data, []byte(word), []byte(other)))})[0])); err != nil {
		t.Fatal(err)
	}
	return out
}
