package search

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func TestSearchReturnsThePlaceOfAMatch(t *testing.T) {
	a, m := rig(t)
	res, err := m.ManualCompact(t.Context(), "one", conversation("parser", 9), "test", compact.WithAgent("fixer"))
	ok(t, err)
	if res.ReductionStage == "none" {
		t.Fatal("nothing was compacted")
	}
	x := index(t, a, folder(t))
	f, err := x.Search(t.Context(), Query{Words: "quux3"})
	ok(t, err)
	if len(f.Matches) != 1 || f.Sessions != 1 || f.More {
		t.Fatalf("found %+v", f)
	}
	got := f.Matches[0]
	if got.Session != "one" || got.Role != "tool" || got.Agent != "fixer" || got.Model != "gpt-4" || got.Turn != 4 || got.Text != "quux3 stands in parser" || got.Lines != 1 || time.Since(got.At) > time.Minute {
		t.Errorf("found %+v", got)
	}
	text, err := recall.Text(t.Context(), a, "one", got.Ref)
	if err != nil || !strings.Contains(text, "quux3 stands in parser") {
		t.Errorf("the reference of the match leads to %q, %v", text, err)
	}
	for since, want := range map[time.Time]int{got.At: 1, got.At.Add(time.Millisecond): 0} {
		if all := found(t, x, Query{Words: "quux3", Since: since}); len(all) != want {
			t.Errorf("%v after it was stored: found %q", since.Sub(got.At), all)
		}
	}
}

// Each step stores the whole history again. A text belongs to each agent and model that
// archived it, and only once to each.
func TestATextIsFoundUnderEachModelThatWorkedWithIt(t *testing.T) {
	a, m := rig(t)
	for i, model := range []string{"gpt-4", "gpt-4o", "gpt-4"} {
		res, err := m.ManualCompact(t.Context(), "one", conversation("parser", 9+9*i), "test", compact.WithAgent("fixer"), compact.WithModel(model))
		ok(t, err)
		if res.Step != i+1 {
			t.Fatalf("%s made step %d", model, res.Step)
		}
	}
	x := index(t, a, folder(t))
	for _, q := range []Query{{Model: "gpt-4"}, {Model: "gpt-4o"}, {Model: "gpt-4o", Agent: "fixer"}} {
		q.Words, q.Role = "zebra", "user"
		if got := found(t, x, q); len(got) != 1 {
			t.Errorf("model %q, agent %q: found %q", q.Model, q.Agent, got)
		}
	}
}

func TestSearchFilters(t *testing.T) {
	a, m := rig(t)
	for _, who := range []string{"fixer", "writer"} {
		_, err := m.ManualCompact(t.Context(), "of "+who, conversation(who, 9), "test", compact.WithAgent(who))
		ok(t, err)
	}
	x := index(t, a, folder(t))
	dir, err := record.Prefix("of writer")
	ok(t, err)
	for name, c := range map[string]struct {
		q    Query
		want int
	}{
		"all":                {Query{Words: "zebra crossing"}, 2},
		"agent":              {Query{Words: "zebra", Agent: "fixer"}, 1},
		"nobody":             {Query{Words: "zebra", Agent: "nobody"}, 0},
		"model":              {Query{Words: "zebra", Model: "gpt-4"}, 2},
		"other model":        {Query{Words: "zebra", Model: "gpt-5"}, 0},
		"session":            {Query{Words: "zebra", Session: dir.String()}, 1},
		"no session":         {Query{Words: "zebra", Session: "none"}, 0},
		"tool":               {Query{Words: "writer_3.go", Tool: "read_file"}, 1},
		"other tool":         {Query{Words: "writer_3.go", Tool: "bash"}, 0},
		"since":              {Query{Words: "zebra", Since: time.Now().Add(-time.Hour)}, 2},
		"since later":        {Query{Words: "zebra", Since: time.Now().Add(time.Hour)}, 0},
		"role":               {Query{Words: "zebra", Role: "user"}, 2},
		"other role":         {Query{Words: "zebra", Role: "tool"}, 0},
		"begins":             {Query{Words: "zeb*", Role: "user"}, 2},
		"not in the middle":  {Query{Words: "ebra"}, 0},
		"all of the words":   {Query{Words: "zebra nowhere"}, 0},
		"together":           {Query{Words: `"crossing zebra"`}, 0},
		"capitals":           {Query{Words: "ZEBRA", Role: "user"}, 2},
		"operators are text": {Query{Words: "zebra OR nowhere"}, 0},
	} {
		if got := found(t, x, c.q); len(got) != c.want {
			t.Errorf("%s: found %d, want %d: %q", name, len(got), c.want, got)
		}
	}
}

func TestSearchDetectsNewAndRemovedFilesAtOnce(t *testing.T) {
	a := memory.New()
	x := index(t, a, folder(t))
	if got := found(t, x, Query{Words: "apple"}); len(got) != 0 {
		t.Errorf("an empty archive has %q", got)
	}
	say(t, a, "one", "an apple")
	gone := say(t, a, "two", "an apple, too")
	if got := found(t, x, Query{Words: "apple"}); !slices.Equal(got, []string{"two: an apple, too", "one: an apple"}) {
		t.Errorf("found %q", got)
	}
	say(t, a, "one", "another apple")
	if got := found(t, x, Query{Words: "apple"}); !slices.Equal(got, []string{"one: another apple", "one: an apple", "two: an apple, too"}) {
		t.Errorf("found %q", got)
	}
	if _, err := gone.Erase(t.Context(), plain(t).Text("why")); err != nil { // this session knows of no index
		t.Fatal(err)
	}
	if got := found(t, x, Query{Words: "apple"}); !slices.Equal(got, []string{"one: another apple", "one: an apple"}) {
		t.Errorf("found %q", got)
	}
	u, err := x.Update(t.Context(), nil)
	if err != nil || u != (Updated{Sessions: 1}) {
		t.Errorf("nothing changed, and %+v, %v", u, err)
	}
}

func TestScriptsWithoutBlanksAreFound(t *testing.T) {
	a := memory.New()
	say(t, a, "one", "他修复了数据库连接池的错误\n第二行")
	x := index(t, a, folder(t))
	if got := found(t, x, Query{Words: "连接池"}); !slices.Equal(got, []string{"one: 他修复了数据库连接池的错误"}) {
		t.Errorf("found %q", got)
	}
}

func TestChangedDataIsNotSearched(t *testing.T) {
	root := t.TempDir()
	a, err := fs.Open(root)
	ok(t, err)
	say(t, a, "one", "an apple")
	name := filepath.Join(root, "one", "transcript-final-001.jsonl")
	data, err := os.ReadFile(name)
	ok(t, err)
	ok(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(data), "apple", "grape")), 0o600))
	f, err := index(t, a, folder(t)).Search(t.Context(), Query{Words: "grape"})
	ok(t, err)
	if len(f.Matches) != 0 || len(f.Unread) != 1 || f.Unread[0].Session != "one" || !strings.Contains(f.Unread[0].Why, "was changed since it was stored") {
		t.Errorf("found %+v", f)
	}
	say(t, a, "two", "a whole grape")
	f, err = index(t, a, folder(t)).Search(t.Context(), Query{Words: "grape", Session: "two"})
	ok(t, err)
	if len(f.Matches) != 1 || f.Sessions != 1 || len(f.Unread) != 0 {
		t.Errorf("in another session: found %+v", f)
	}
}

// A changed summary is not searched either.
func TestChangedSummaryIsNotSearched(t *testing.T) {
	a, r := memory.New(), plain(t)
	s := say(t, a, "one", "an apple")
	w, err := s.Summary(t.Context(), 1, r.Text(`{"v":1,"step":1,"text":"a plum"}`))
	ok(t, err)
	if got := found(t, index(t, a, folder(t)), Query{Words: "plum"}); len(got) != 1 {
		t.Errorf("found is %q", got)
	}
	ok(t, a.Remove(t.Context(), w.Key))
	ok(t, a.Create(t.Context(), w.Key, storage.Redacted(r.Text(`{"v":1,"step":1,"text":"a pear"}`))))
	f, err := index(t, a, folder(t)).Search(t.Context(), Query{Words: "pear"})
	ok(t, err)
	if len(f.Matches) != 0 || len(f.Unread) != 1 || !strings.Contains(f.Unread[0].Why, "was changed since it was stored") {
		t.Errorf("found %+v", f)
	}
}

// A line that several summaries of a session have is a match only in the newest of them.
func TestLineOfSeveralSummariesIsFoundOnce(t *testing.T) {
	a, r := memory.New(), plain(t)
	for _, name := range []string{"one", "two"} {
		s := say(t, a, name, "an apple")
		for step, text := range []string{"a plum", `a plum\nan old plum`, `a plum\nanother plum`} {
			_, err := s.Summary(t.Context(), step+1, r.Text(fmt.Sprintf(`{"v":1,"step":%d,"text":"%s"}`, step+1, text)))
			ok(t, err)
		}
	}
	x := index(t, a, folder(t))
	f, err := x.Search(t.Context(), Query{Words: "plum", Session: "one"})
	ok(t, err)
	var got []string
	for _, m := range f.Matches {
		got = append(got, fmt.Sprintf("%s %s %d", m.File, m.Text, m.Lines))
	}
	if want := []string{"summary-003.json a plum 2", "summary-002.json an old plum 1"}; !slices.Equal(got, want) || f.More {
		t.Errorf("found %q, more: %v; want %q", got, f.More, want)
	}
	for most, want := range map[int]bool{3: true, 4: false} {
		f, err := x.Search(t.Context(), Query{Words: "plum", Most: most})
		ok(t, err)
		if len(f.Matches) != most || f.More != want {
			t.Errorf("at most %d: found %d, more: %v", most, len(f.Matches), f.More)
		}
	}
}

// A summary is read last, and is older than a transcript that came after it.
func TestSinceFindsWhatCameAfterTheLastSummary(t *testing.T) {
	var a *memory.Archive
	var between time.Time
	synctest.Test(t, func(t *testing.T) {
		var m *compact.CompactManager
		a, m = rig(t)
		history := conversation("parser", 9)
		_, err := m.ManualCompact(t.Context(), "one", history, "test")
		ok(t, err)
		between = time.Now().Add(time.Hour)
		time.Sleep(2 * time.Hour)
		ok(t, m.Archive(t.Context(), "one", append(history, message.User("A giraffe, at last."))))
		ok(t, m.Close(t.Context()))
	})
	x := index(t, a, folder(t))
	for words, want := range map[string]int{"giraffe": 1, "zebra": 0} {
		if got := found(t, x, Query{Words: words, Since: between}); len(got) != want {
			t.Errorf("%s: found %q", words, got)
		}
	}
}

func TestSearchDetectsGrownFiles(t *testing.T) {
	root := t.TempDir()
	a, err := fs.Open(root)
	ok(t, err)
	s := say(t, a, "one", "an apple")
	settled(t, root)
	x := index(t, a, folder(t))
	if got := found(t, x, Query{Words: "pear"}); len(got) != 0 {
		t.Fatalf("found %q", got)
	}
	line := plain(t).Text(`{"role":"user","content":"a pear"}`)
	for range 2 { // the first creates the log, the second extends it
		ok(t, s.Journal(t.Context(), line1(line)))
		settled(t, root)
		if got := found(t, x, Query{Words: "pear"}); !slices.Equal(got, []string{"one: a pear"}) {
			t.Errorf("found %q", got)
		}
		line = plain(t).Text(`{"role":"user","content":"a plum"}`)
	}
	if got := found(t, x, Query{Words: "plum"}); !slices.Equal(got, []string{"one: a plum"}) {
		t.Errorf("found %q", got)
	}
}

// settled makes all folders look old.
func settled(t *testing.T, root string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	ok(t, err)
	for _, e := range entries {
		info, err := e.Info()
		ok(t, err)
		old := info.ModTime().Add(-time.Hour)
		ok(t, os.Chtimes(filepath.Join(root, e.Name()), old, old))
	}
}

func TestQueriesWithoutWordsAreRefused(t *testing.T) {
	x := index(t, memory.New(), folder(t))
	for _, words := range []string{"", " ", `""`, "*", `-- "...`} {
		if _, err := x.Search(t.Context(), Query{Words: words}); !errors.Is(err, ErrNoWords) {
			t.Errorf("%q: %v", words, err)
		}
	}
}

func FuzzQuery(f *testing.F) {
	for _, words := range []string{`a`, `"a b"* c`, `"`, `a" OR "b`, "é*", "连", "NEAR(a b)", "a:b", "^a", "{a}:b", "'", "a\x00b"} {
		f.Add(words)
	}
	a := memory.New()
	say(f, a, "one", "an apple")
	x := index(f, a, folder(f))
	f.Fuzz(func(t *testing.T, words string) {
		if _, err := x.Search(context.Background(), Query{Words: words}); err != nil && !errors.Is(err, ErrNoWords) {
			t.Errorf("%q: %v", words, err)
		}
	})
}

func TestLongLinesAreCutAroundTheMatch(t *testing.T) {
	a := memory.New()
	say(t, a, "one", strings.Repeat("é ", 900)+"needle "+strings.Repeat("x ", 900)+"\nsecond needle")
	f, err := index(t, a, folder(t)).Search(t.Context(), Query{Words: "needle"})
	ok(t, err)
	if m := f.Matches[0]; !strings.Contains(m.Text, "needle") || len(m.Text) > lineBytes+6 || !strings.HasPrefix(m.Text, "…") || !strings.HasSuffix(m.Text, "…") || m.Lines != 2 {
		t.Errorf("found %+v", m)
	}
}

func TestMostLimitsTheMatches(t *testing.T) {
	a := memory.New()
	say(t, a, "one", "apple 1", "apple 2", "apple 3")
	f, err := index(t, a, folder(t)).Search(t.Context(), Query{Words: "apple", Most: 2})
	if err != nil || len(f.Matches) != 2 || !f.More || f.Matches[0].Text != "apple 3" {
		t.Errorf("found %+v, %v", f, err)
	}
}

func TestHoldingReturnsEverySessionWithTheText(t *testing.T) {
	a, m := rig(t)
	_, err := m.ManualCompact(t.Context(), "one", conversation("parser", 9), "test", compact.WithAgent("fixer"))
	ok(t, err)
	say(t, a, "two", "the zebra crossing", "a zebra")
	say(t, a, "three", "nothing")
	x := index(t, a, folder(t))
	held, err := x.Holding(t.Context(), Query{Words: "zebra"})
	if err != nil || len(held) != 2 || held[0].Session != "one" || held[1] != (Held{"two", "two", 2}) {
		t.Errorf("held by %+v, %v", held, err)
	}
	if held, err := x.Workplaces(t.Context(), "fixer"); err != nil || len(held) != 1 || held[0].Session != "one" {
		t.Errorf("worked in %+v, %v", held, err)
	}
	if held, err := x.Workplaces(t.Context(), "nobody"); err != nil || len(held) != 0 {
		t.Errorf("worked in %+v, %v", held, err)
	}
}

// A text that a step archived is not repeated by a final transcript, which has no agent. Two
// agents' texts stay apart, because a search can ask for one of them.
func TestATextIsIndexedOnceForEachAgent(t *testing.T) {
	s, seen := &session{worked: map[worker]bool{}}, map[string]bool{}
	for _, c := range []struct {
		step  int
		agent string
		want  int
	}{{1, "a", 1}, {2, "a", 1}, {0, "", 1}, {3, "b", 2}, {0, "", 2}} {
		s.message(&recall.Stored{Message: message.User("zebra"), Step: c.step, Agent: c.agent}, seen)
		if len(s.texts) != c.want {
			t.Errorf("after step %d of agent %q there are %d texts, want %d", c.step, c.agent, len(s.texts), c.want)
		}
	}
}
