package recall_test

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// A match in a call names its tool, and the number by which the summary cites it. It comes
// after the matches in what people and models say, although it is newer.
func TestMatchesInCallsNameTheToolAndComeLast(t *testing.T) {
	a := removed(t, "nothing here")
	_, found := search(t, a, `^I begin|file_1\.go`, 0)
	var got []string
	for _, m := range found.Matches {
		got = append(got, fmt.Sprintf("%s %s %v", m.Role, m.Tool, m.Number > 0))
	}
	want := []string{"assistant  true", "assistant read_file true", "tool  true"}
	if slices.Sort(got[1:]); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A message with several parts is searched as a whole, and each match has the reference of
// its own part.
func TestSearchReadsEveryPartOfAMessage(t *testing.T) {
	a := removedFrom(t, func(history []message.Message) []message.Message {
		history[2] = message.Assistant("I look for needle one.", message.Call("call_0", "grep", `{"for":"needle two"}`), message.Call("call_x", "grep", `{"for":"needle three"}`))
		return slices.Insert(history, 4, message.ToolResult("call_x", "none"))
	})
	_, found := search(t, a, "needle", 0)
	for k, word := range []string{"one", "two", "three"} {
		if len(found.Matches) != 3 {
			t.Fatalf("%d matches, want 3", len(found.Matches))
		}
		ref := found.Matches[k].Ref
		if text, err := recall.Text(t.Context(), a, "s", ref); err != nil || !strings.Contains(text, "needle "+word) {
			t.Errorf("needle %s: the reference %q is of %q, %v", word, ref, text, err)
		}
	}
}

// A message that was masked by one step and summarized by a later one counts once.
func TestSearchCountsAMessageOfTwoStepsOnce(t *testing.T) {
	a := memory.New()
	twoSteps(t, a)
	found, err := recall.Search(t.Context(), a, "s", regexp.MustCompile(`^file_0\.go: `), 0)
	if err != nil || found.Lines != 1 || found.Same != 0 {
		t.Errorf("%d lines, %d the same, %v, want 1 and 0", found.Lines, found.Same, err)
	}
}

// The references of a ledger are where the archive has the bytes. A step without an index
// has references, too.
func TestRefsOfALedgerFindTheBytes(t *testing.T) {
	a := memory.New()
	twoSteps(t, a)
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for l, err := range s.Ledgers(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		refs, err := recall.Refs(l)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range refs {
			if data, err := s.Read(t.Context(), r.File, r.Off, r.Len); err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != r.SHA256 {
				t.Fatalf("%+v has %.80q, %v", r, data, err)
			}
			n++
		}
	}
	if n < 100 {
		t.Errorf("%d references", n)
	}
	refs, err := recall.Refs(record.Ledger{Step: 1, Data: fmt.Appendf(nil, `{"v":2,"step":1,"archive":"a","recipes":[],"evicted":[{"fp":%q,"off":7,"len":9,"sha256":"x","is":"masked"}]}`, strings.Repeat("a", 32))})
	if err != nil || len(refs) != 1 || refs[0].File != "a" || refs[0].Off != 7 || refs[0].Len != 9 || refs[0].Index != "" {
		t.Errorf("%+v, %v", refs, err)
	}
}
