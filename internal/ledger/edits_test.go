package ledger

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func TestUnarchivedReturnsPartsWithoutAStep(t *testing.T) {
	out := func(texts ...string) (all []Eviction) {
		for _, s := range texts {
			all = append(all, Eviction{FP: message.User(s).Fingerprint()})
		}
		return all
	}
	at := func(off int64, key, agent string, texts ...string) Step {
		return Step{Key: key, Agent: agent, Seq: off, Off: off, Evicted: out(texts...)}
	}
	step := func(texts ...string) Step { return Step{Key: "k", Evicted: out(texts...)} }
	far := int64(nearby + 1)
	all := []Step{at(0, "k", "", "a", "b"), at(100, "k", "x", "c"), at(100+far, "k", "", "d"), at(100+2*far, "k", "", "e")}
	for name, c := range map[string]struct {
		steps, all []Step
		want       []Span
	}{
		"no log":                                    {[]Step{step("a")}, nil, nil},
		"no step":                                   {nil, all, []Span{{0, openEnd}}},
		"all edits are in steps":                    {[]Step{step("a", "c"), step("b", "e", "d")}, all, nil},
		"only the last edit is needed":              {[]Step{step("a", "b", "c", "d")}, all, []Span{{100 + 2*far, openEnd}}},
		"the first edit is needed":                  {[]Step{step("a", "c", "d", "e")}, all, []Span{{0, 100}}},
		"two needed edits, far apart":               {[]Step{step("c", "d")}, all, []Span{{0, 100}, {100 + 2*far, openEnd}}},
		"two needed edits, one of them near others": {[]Step{step("a", "b", "c", "e")}, append([]Step{at(0, "k", "", "z"), at(50, "k", "", "a")}, all[1:]...), []Span{{0, 50}, {100 + far, 100 + 2*far}}},
		"near edits are read as one span":           {[]Step{step("a", "c")}, []Step{at(0, "k", "", "z"), at(50, "k", "", "a"), at(60, "k", "", "y"), at(70, "k", "", "c")}, []Span{{0, 70}}},
		"another key":                               {[]Step{step("a", "b", "c", "d", "e")}, slices.Concat([]Step{at(0, "old", "", "a")}, all[1:]), []Span{{0, 100}}},
		"no archive":                                {[]Step{{Volatile: true, Evicted: out("a", "b", "c", "d", "e")}}, all, []Span{{0, openEnd}}},
		"another agent's step":                      {[]Step{{Key: "k", Agent: "y", Evicted: out("a", "b", "c", "d", "e")}}, all, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Unarchived(c.steps, c.all, "k"); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// Void edits are not applied, and their originals can be read. The order in which edits
// and void lines are read has no effect.
func TestVoidEditsAreLoggedButNotApplied(t *testing.T) {
	edit := func(seq int64, kind, out string) Step {
		return Step{Kind: kind, Seq: seq, Off: 10 * seq, Out: reduce.Link{N: 1, Hash: message.User(out).Fingerprint()}, Evicted: []Eviction{{FP: message.User(out).Fingerprint()}}}
	}
	for name, read := range map[string][]Step{
		"line before":                {edit(1, KindTidy, "a"), edit(3, KindTidy, "b"), edit(5, KindTidy, "c"), edit(6, KindVoid, "b")},
		"void in memory":             {edit(0, KindVoid, "b"), edit(1, KindTidy, "a"), edit(3, KindTidy, "b"), edit(5, KindTidy, "c"), edit(6, KindVoid, "b")},
		"read twice":                 {edit(1, KindTidy, "a"), edit(3, KindTidy, "b"), edit(3, KindTidy, "b"), edit(6, KindVoid, "b"), edit(3, KindTidy, "b"), edit(5, KindTidy, "c")},
		"void before the next edits": {edit(1, KindTidy, "a"), edit(3, KindTidy, "b"), edit(4, KindVoid, "b"), edit(5, KindTidy, "c")},
	} {
		var d Edits
		for _, e := range read {
			d.Add(e)
		}
		seqs := func(all []Step) (out []int64) {
			for i := range all {
				out = append(out, all[i].Seq)
			}
			return out
		}
		b := edit(3, KindTidy, "b")
		if got := seqs(d.All); !slices.Equal(got, []int64{1, 5}) || d.Count(Owner{}) != 2 || !d.Whole(&b) {
			t.Errorf("%s: edits %v, %d of the owner", name, got, d.Count(Owner{}))
		}
		if got := seqs(d.Logged()); !slices.Equal(got, []int64{1, 3, 5}) {
			t.Errorf("%s: the log has %v", name, got)
		}
		archived := []Step{{Key: "k", Evicted: []Eviction{d.All[0].Evicted[0], d.All[1].Evicted[0]}}}
		if got := Unarchived(archived, d.Logged(), ""); !slices.Equal(got, []Span{{30, 50}}) {
			t.Errorf("%s: not archived are %v", name, got)
		}
	}
}

// A void line is for the edits of the process that wrote it, and not for the same edits
// that another process stored and shows. Lines of older versions name no try.
func TestVoidLineIsForOneTry(t *testing.T) {
	edit := func(seq int64, kind, try string) Step {
		return Step{Kind: kind, Seq: seq, Out: reduce.Link{N: 1}, Try: try}
	}
	for name, c := range map[string]struct {
		read []Step
		want []int64
	}{
		"the other came first":  {[]Step{edit(1, KindTidy, "a"), edit(2, KindTidy, "b"), edit(3, KindVoid, "b")}, []int64{1}},
		"the other came later":  {[]Step{edit(1, KindTidy, "b"), edit(2, KindTidy, "a"), edit(3, KindVoid, "b")}, []int64{2}},
		"behind the void line":  {[]Step{edit(1, KindTidy, "b"), edit(2, KindVoid, "b"), edit(3, KindTidy, "a")}, []int64{3}},
		"it was never stored":   {[]Step{edit(1, KindTidy, "a"), edit(2, KindVoid, "b")}, []int64{1}},
		"older lines":           {[]Step{edit(1, KindTidy, ""), edit(2, KindVoid, "")}, nil},
		"edits of a compaction": {[]Step{edit(1, "always", ""), edit(2, KindVoid, "")}, []int64{1}},
	} {
		var d Edits
		for _, e := range c.read {
			d.Add(e)
		}
		var got []int64
		for i := range d.All {
			got = append(got, d.All[i].Seq)
		}
		if e := edit(9, KindTidy, "c"); !slices.Equal(got, c.want) || !d.Whole(&e) || d.Count(Owner{}) != len(c.want) {
			t.Errorf("%s: edits %v, want %v; %d of the owner", name, got, c.want, d.Count(Owner{}))
		}
	}
}

// Calls read their list of edits while other calls add edits, including older ones.
func TestEditsThatAreReadStayAsTheyAre(t *testing.T) {
	var d Edits
	for _, seq := range []int64{1, 3, 5, 7, 9} {
		d.Add(Step{Kind: KindTidy, Seq: seq, Try: strconv.Itoa(int(seq))})
	}
	read := d.All
	d.Add(Step{Seq: 2})
	before := d.All
	d.Add(Step{Kind: KindVoid, Try: "3"})
	if before[1].Seq != 2 || before[2].Seq != 3 || before[5].Seq != 9 {
		t.Errorf("after a void line, earlier readers have %d, %d, …, %d", before[1].Seq, before[2].Seq, before[5].Seq)
	}
	for i, seq := range []int64{1, 3, 5, 7, 9} {
		if read[i].Seq != seq {
			t.Errorf("edit %d is %d, was %d", i, read[i].Seq, seq)
		}
	}
	if len(d.All) != 5 || d.All[1].Seq != 2 {
		t.Errorf("%d edits, the second is %d", len(d.All), d.All[1].Seq)
	}
}

// A changed line of the log is not read as an edit, and its originals are not assigned
// to the next edit. Lines that were read are not read again.
func TestEditsBehindAChangedOneBeginWithTheirOriginals(t *testing.T) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := redact.New(redact.Options{Disabled: true})
	must(err)
	a := memory.New()
	s, err := record.OpenSession(t.Context(), a, "s")
	must(err)
	var at []int64
	for _, agent := range []string{"first", "second", "third"} {
		w, err := s.Edits(t.Context(), []redact.Text{r.Text(`{"role":"user","content":"of the ` + agent + `"}`), r.Text(`{"edit":{"v":2,"agent":"` + agent + `"}}`)})
		must(err)
		at = append(at, w.Off)
	}
	key, err := storage.ParseKey("s/edits.jsonl")
	must(err)
	f, err := a.Open(t.Context(), key, 0, -1)
	must(err)
	data, err := io.ReadAll(f)
	must(err)
	for name, c := range map[string]struct {
		old, forged string
		edits       int
	}{
		"an edit":     {`"agent":"second"`, `"agent":"forged"`, 2},
		"an original": {"of the third", "of a forger!", 3}, // the offset includes it, so that a recall reports it
	} {
		must(a.Remove(t.Context(), key))
		must(a.Append(t.Context(), key, 0, storage.Redacted(r.Text(strings.Replace(string(data), c.old, c.forged, 1)))))
		changes := 0
		got, end, err := ReadEdits(t.Context(), s, 0, func(*storage.ChangedError) { changes++ })
		if n := len(got); err != nil || changes != 1 || n != c.edits || got[n-1].Agent != "third" || got[n-1].Off != at[2] || end != int64(len(data)) {
			t.Errorf("%s is changed: %d changes, %v, %+v; want the third at %d, and all %d bytes read, not %d", name, changes, err, got, at[2], len(data), end)
		}
	}
}

// BenchmarkUnarchived reads a session of 10,000 calls that evict two messages each, with a
// step in 32 of them.
func BenchmarkUnarchived(b *testing.B) {
	var steps, all []Step
	var batch []Eviction
	for n := range 10_000 {
		e := Step{Key: "k", Seq: int64(n), Off: int64(n) * 1000}
		for k := range 2 {
			e.Evicted = append(e.Evicted, Eviction{FP: message.User(fmt.Sprint(n, k)).Fingerprint()})
		}
		all, batch = append(all, e), append(batch, e.Evicted...)
		if n%32 == 31 {
			steps, batch = append(steps, Step{Key: "k", Evicted: batch}), nil
		}
	}
	for b.Loop() {
		Unarchived(steps, all, "k")
	}
}

// The unarchived edits of an agent come after the agent's own last step, even if other
// agents or branches have made steps since.
func TestPendingIgnoresTheStepsOfOthers(t *testing.T) {
	at := func(agent, branch string, seq int64) Step {
		return Step{Agent: agent, Branch: branch, Seq: seq, Edits: seq}
	}
	edits := []Step{at("a", "", 1), at("b", "", 2), at("a", "", 3), at("a", "x", 4), at("a", "", 5)}
	for name, c := range map[string]struct {
		steps []Step
		want  []int64
	}{
		"no step":                 {nil, []int64{1, 3, 5}},
		"a step of its own":       {[]Step{at("a", "", 1)}, []int64{3, 5}},
		"of another agent later":  {[]Step{at("a", "", 1), at("b", "", 5)}, []int64{3, 5}},
		"of another branch later": {[]Step{at("a", "", 3), at("a", "x", 5)}, []int64{5}},
		"of others alone":         {[]Step{at("b", "", 5), at("a", "x", 5)}, []int64{1, 3, 5}},
		"the last of its own":     {[]Step{at("a", "", 1), at("a", "", 5)}, nil},
	} {
		var got []int64
		for _, e := range Pending(c.steps, edits, Owner{"a", ""}) {
			got = append(got, e.Seq)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: lines %v, want %v", name, got, c.want)
		}
	}
}

// Each void line is for its own edits, whatever their order, and a list of the log that was
// handed out does not change with later edits.
func TestVoidLinesAddUp(t *testing.T) {
	edit := func(seq int64, kind, out string) Step {
		return Step{Kind: kind, Seq: seq, Out: reduce.Link{N: 1, Hash: message.User(out).Fingerprint()}}
	}
	seqs := func(all []Step) (out []int64) {
		for i := range all {
			out = append(out, all[i].Seq)
		}
		return out
	}
	var d Edits
	for _, e := range []Step{edit(4, KindVoid, "c"), edit(5, KindVoid, "a"), edit(3, KindTidy, "c"), edit(1, KindTidy, "a"), edit(2, KindTidy, "b")} {
		d.Add(e)
	}
	if all, log := seqs(d.All), seqs(d.Logged()); !slices.Equal(all, []int64{2}) || !slices.Equal(log, []int64{1, 2, 3}) {
		t.Errorf("edits %v, and %v in the log", all, log)
	}
	d = Edits{}
	for seq := range int64(3) {
		d.Add(edit(seq, KindTidy, "a"))
	}
	log := append(d.Logged(), edit(9, KindTidy, "z"))
	d.Add(edit(4, KindTidy, "b"))
	if got := seqs(log); !slices.Equal(got, []int64{0, 1, 2, 9}) {
		t.Errorf("the list became %v", got)
	}
}
