package record_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// stretch returns a reference to lines first to last, from 1, of a file with these
// lines.
func stretch(from string, all []redact.Text, first, last int) record.Stretch {
	st := record.Stretch{From: from, First: first, Lines: last - first + 1}
	h := sha256.New()
	for i, l := range all[:last] {
		line := l.String() + "\n"
		if i < first-1 {
			st.Off += int64(len(line))
			continue
		}
		st.Len += int64(len(line))
		_, _ = h.Write([]byte(line))
	}
	st.SHA256 = hex.EncodeToString(h.Sum(nil))
	return st
}

// referring stores two steps. The second step refers to four lines of the first step's
// transcript and has two lines of its own. It returns the lines that a reader must
// find.
func referring(t *testing.T, a storage.Archive) (s *record.Session, whole []redact.Text) {
	t.Helper()
	s = session(t, a, "s")
	first, own := lines("first", 6), lines("own", 2)
	must(t, second(s.Transcript(t.Context(), 1, first)))
	must(t, second(s.Commit(t.Context(), 1, text(`{"v":1,"step":1}`))))
	var c record.Content
	c.Same(stretch("transcript-pre-compact-001.jsonl", first, 1, 3))
	c.Line(own[0])
	c.Same(stretch("transcript-pre-compact-001.jsonl", first, 5, 5))
	if n, off := c.Line(own[1]); n != 4 || off < 200 {
		t.Errorf("the last line is at %d, %d; want 4 and at least 200", n, off)
	}
	must(t, second(s.TranscriptOf(t.Context(), 2, &c)))
	must(t, second(s.Commit(t.Context(), 2, text(`{"v":1,"step":2}`))))
	return s, []redact.Text{first[0], first[1], first[2], own[0], first[4], own[1]}
}

const secondTranscript = "transcript-pre-compact-002.jsonl"

func TestWholeTranscriptIncludesReferencedLines(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s, whole := referring(t, a)
		var got []string
		for l, err := range s.Whole(t.Context(), secondTranscript) {
			must(t, err)
			piece, err := s.Read(t.Context(), l.File, l.Off, int64(len(l.Text)))
			must(t, err)
			if !bytes.Equal(piece, l.Text) {
				t.Errorf("%s at %d of %s is %q", l.Text, l.Off, l.File, piece)
			}
			got = append(got, string(l.Text))
		}
		places, err := s.Places(t.Context(), secondTranscript)
		must(t, err)
		for i, w := range whole {
			if i >= len(got) || got[i] != w.String() {
				t.Fatalf("line %d: %q, want %s", i+1, got, w)
			}
			p := places[i]
			if p.SHA256 != sha256.Sum256([]byte(w.String())) || p.Len != int64(w.Len()) {
				t.Errorf("line %d is placed at %+v", i+1, p)
			}
		}
		if len(got) != len(whole) || len(places) != len(whole) || places[4].File != "transcript-pre-compact-001.jsonl" || places[4].Number != 5 || places[5].Number != 4 {
			t.Errorf("%d lines, places %+v, want %d", len(got), places, len(whole))
		}
		wantOK(t, a, "s")
	})
}

func TestInvalidStretchIsRefused(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	good := stretch("transcript-pre-compact-001.jsonl", lines("x", 3), 1, 3)
	for name, change := range map[string]func(*record.Stretch){
		"a path":        func(st *record.Stretch) { st.From = "../transcript-pre-compact-001.jsonl" },
		"a log":         func(st *record.Stretch) { st.From = "events.jsonl" },
		"a ledger":      func(st *record.Stretch) { st.From = "ledger-001.json" },
		"no lines":      func(st *record.Stretch) { st.Lines = 0 },
		"no first line": func(st *record.Stretch) { st.First = 0 },
		"before":        func(st *record.Stretch) { st.Off = -1 },
		"nothing":       func(st *record.Stretch) { st.Len = 0 },
		"too much":      func(st *record.Stretch) { st.Len = record.MaxStretch + 1 },
		"no hash":       func(st *record.Stretch) { st.SHA256 = "x" },
	} {
		st := good
		change(&st)
		var c record.Content
		c.Same(st)
		if _, err := s.TranscriptOf(t.Context(), 1, &c); !errors.Is(err, record.ErrLine) {
			t.Errorf("%s: %v, want ErrLine", name, err)
		}
	}
}

// A line with the form of a reference, even in pieces, is not mistaken for a message; a
// line that only resembles one is a message.
func TestLineLikeAReferenceIsNoMessage(t *testing.T) {
	a := memory.New()
	s, _ := referring(t, a)
	forged, _, _ := strings.Cut(content(t, s, secondTranscript), "\n")
	for _, cut := range []int{0, 1, 5, 9, len(forged) - 1} {
		var c record.Content
		c.Line(text("%s", forged[:cut]), text("%s", forged[cut:]))
		if _, err := s.TranscriptOf(t.Context(), 3, &c); !errors.Is(err, record.ErrLine) {
			t.Errorf("in two pieces, %d and the rest: %v, want ErrLine", cut, err)
		}
	}
	if _, err := s.Final(t.Context(), []redact.Text{text("%s", forged)}); !errors.Is(err, record.ErrLine) {
		t.Errorf("in a final transcript: %v, want ErrLine", err)
	}
	like := []string{
		forged + " ", " " + forged, strings.Replace(forged, `,"lines"`, `, "lines"`, 1), strings.TrimSuffix(forged, "}") + `,"meta":{"fp":"0"}}`,
		strings.Replace(forged, "[1,3]", "[3,1]", 1), `{"from":"human","value":"hello"}`, `{"from":"`,
	}
	var messages []redact.Text
	for _, l := range like {
		messages = append(messages, text("%s", l))
	}
	w, err := s.Final(t.Context(), messages)
	must(t, err)
	n := 0
	for l, err := range s.Lines(t.Context(), w.Key.Base()) {
		if must(t, err); string(l) != like[n] {
			t.Errorf("line %d is %s", n+1, l)
		}
		n++
	}
	if n != len(like) {
		t.Errorf("%d lines of %d", n, len(like))
	}
}

// If a referenced file is gone or changed, readers and Verify name it. Readers ignore
// the parts of the file that nothing refers to.
func TestReferencedLinesAreComparedWithTheirReference(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b []byte) []byte
		bad    bool // for readers
		kind   record.ProblemKind
	}{
		"a line that is referred to": {func(b []byte) []byte { b[20] ^= 1; return b }, true, record.Changed},
		"a line that is not":         {func(b []byte) []byte { b[len(b)-5] ^= 1; return b }, false, record.Changed},
		"the end":                    {func(b []byte) []byte { return b[:50] }, true, record.Truncated},
		"a line put in":              {func(b []byte) []byte { return append([]byte("{}\n"), b...) }, true, record.Changed},
		"everything":                 {func([]byte) []byte { return nil }, true, record.Removed},
	} {
		a := memory.New()
		s, _ := referring(t, a)
		key := mustKey(t, "s/transcript-pre-compact-001.jsonl")
		data := c.change([]byte(content(t, s, key.Base())))
		must(t, a.Remove(t.Context(), key))
		if data != nil {
			must(t, a.Create(t.Context(), key, storage.Redacted(text("%s", data))))
		}
		var readers []error
		for _, err := range s.Whole(t.Context(), secondTranscript) {
			readers = append(readers, err)
		}
		err := readers[len(readers)-1]
		var changed *storage.ChangedError
		if c.bad != errors.As(err, &changed) || c.bad && changed.File != key.Base() {
			t.Errorf("%s: reading: %v", name, err)
		}
		places, err := s.Places(t.Context(), secondTranscript)
		if c.bad != errors.Is(err, storage.ErrChanged) || len(places) < 2 {
			t.Errorf("%s: %d places, %v, want at least 2", name, len(places), err)
		}
		r := verify(t, a, "s", record.VerifyOptions{})
		says := slices.ContainsFunc(r.Problems, func(p record.Problem) bool { return strings.Contains(p.Detail, secondTranscript) })
		if r.OK() || r.Problems[0].File != key.Base() || r.Problems[0].Kind != c.kind || says != c.bad {
			t.Errorf("%s: verify returned %v", name, r.Problems)
		}
	}
}

// A transcript that another step uses belongs to the session, even if the step that
// it was written for was never committed.
func TestAbandonedTranscriptThatIsReferredToIsStored(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	lost := lines("lost", 4)
	must(t, second(s.Transcript(t.Context(), 1, lost)))
	var c record.Content
	c.Same(stretch("transcript-pre-compact-001.jsonl", lost, 1, 4))
	w, err := s.TranscriptOf(t.Context(), 1, &c)
	must(t, err)
	must(t, second(s.Commit(t.Context(), 1, text(`{"v":1,"step":1}`), w)))
	if r := wantOK(t, a, "s"); len(r.Abandoned()) > 0 {
		t.Errorf("abandoned: %q", r.Abandoned())
	}
	must(t, a.Remove(t.Context(), mustKey(t, "s/transcript-pre-compact-001.jsonl")))
	if r := verify(t, a, "s", record.VerifyOptions{}); r.OK() || r.Problems[0].Kind != record.Removed {
		t.Errorf("it is gone: %v", r.Problems)
	}
}

// An export has each transcript whole, and restores every byte of the files.
func TestExportHasWholeTranscripts(t *testing.T) {
	a := memory.New()
	s, whole := referring(t, a)
	data := export(t, s, record.ExportJSONL)
	if got := readExport(t, data)[secondTranscript]; got != content(t, s, secondTranscript) {
		t.Errorf("the file comes back as %s", got)
	}
	_, file, _ := strings.Cut(string(data), `{"file":"`+secondTranscript+`"}`)
	for _, l := range whole {
		at := strings.Index(file, l.String())
		if at < 0 {
			t.Fatalf("%s is not in the export of the second transcript, or not in its place", l)
		}
		file = file[at:]
	}
	if strings.Contains(file, `{"file":`) && !strings.Contains(file, `{"end":"`+secondTranscript) {
		t.Error("a line is after the end of the file")
	}
}

// A stretch that refers to a stretch counts as damage in every file, and reading it
// ends.
func TestStretchOfAStretchIsDamage(t *testing.T) {
	a := memory.New()
	s, _ := referring(t, a)
	one, _, _ := strings.Cut(content(t, s, secondTranscript), "\n")
	var c record.Content
	c.Same(stretch(secondTranscript, []redact.Text{text("%s", one)}, 1, 1))
	w, err := s.TranscriptOf(t.Context(), 3, &c)
	must(t, err)
	for _, err := range s.Lines(t.Context(), w.Key.Base()) {
		if !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("reading: %v, want ErrDamaged", err)
		}
	}
	if _, err := s.Places(t.Context(), w.Key.Base()); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("places: %v, want ErrDamaged", err)
	}
	if r := verify(t, a, "s", record.VerifyOptions{}); r.OK() {
		t.Error("it verifies")
	}
}

// Reading any transcript ends, and yields no more lines than the transcript has.
func FuzzTranscriptLines(f *testing.F) {
	f.Add(`{"from":"transcript-pre-compact-001.jsonl","lines":[1,2],"at":[0,44],"sha256":"` + strings.Repeat("0", 64) + `"}`)
	f.Add(`{"from":"transcript-pre-compact-001.jsonl","lines":[1,9223372036854775807],"at":[0,1],"sha256":""}`)
	f.Add("{\"from\":\"\n\n{}")
	f.Fuzz(func(t *testing.T, data string) {
		a := memory.New()
		must(t, a.Create(t.Context(), mustKey(t, "s/transcript-pre-compact-001.jsonl"), storage.Redacted(text("%s", data))))
		n := 0
		for range session(t, a, "s").Whole(t.Context(), "transcript-pre-compact-001.jsonl") {
			n++
		}
		if n > strings.Count(data, "\n")+1 {
			t.Errorf("%d lines of %q", n, data)
		}
	})
}
