package record_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// inLog returns the reference to an original at a place.
func inLog(line redact.Text, at record.OriginalAt) record.Stretch {
	sum := sha256.Sum256([]byte(line.String()))
	return record.Stretch{From: "edits.jsonl", First: int(at.Line), Lines: 1, Off: at.Off, Len: int64(line.Len()), SHA256: hex.EncodeToString(sum[:])}
}

// logged appends the edits of a call, and returns the places of their originals.
func logged(t *testing.T, s *record.Session, originals ...redact.Text) []record.OriginalAt {
	t.Helper()
	var all []redact.Text
	for _, o := range originals {
		all = append(all, record.Original(o))
	}
	w, err := s.Edits(t.Context(), append(all, text(`{"edit":{"v":2}}`)))
	must(t, err)
	if len(w.Originals) != len(originals) {
		t.Fatalf("%d places for %d originals", len(w.Originals), len(originals))
	}
	return w.Originals
}

// A transcript can refer to the originals of edits between two steps, whatever other
// processes and crashes left between them: readers find the messages, and their places are
// their bytes.
func TestTranscriptRefersToOriginals(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		s, other := session(t, a, "s"), session(t, a, "s")
		big := text(`{"role":"tool","content":"%s"}`, strings.Repeat("long ", 300_000))
		want := append(lines("kept", 4), big)
		places := logged(t, s, want[0], big)
		logged(t, other, lines("other", 11)...)
		places = append(places, logged(t, s, want[2])...)
		var c record.Content
		c.Same(inLog(want[0], places[0]))
		c.Line(want[1])
		c.Same(inLog(want[2], places[2]))
		c.Line(want[3])
		c.Same(inLog(big, places[1]))
		must(t, second(s.OriginalsOf(t.Context(), 1, &c)))
		must(t, second(s.Commit(t.Context(), 1, text(`{"v":1,"step":1}`))))
		n := 0
		for l, err := range s.Whole(t.Context(), "originals-001.jsonl") {
			must(t, err)
			piece, err := s.Read(t.Context(), l.File, l.Off, int64(len(l.Text)))
			must(t, err)
			if string(l.Text) != want[n].String() || !bytes.Equal(piece, l.Text) {
				t.Errorf("message %d is %.60s, and %.60s at %d of %s; want %.60s", n, l.Text, piece, l.Off, l.File, want[n])
			}
			n++
		}
		at, err := s.Places(t.Context(), "originals-001.jsonl")
		must(t, err)
		if n != len(want) || len(at) != n || at[2].File != "edits.jsonl" || at[2].Number != int(places[2].Line) || at[4].Off != places[1].Off {
			t.Errorf("%d messages of %d, at %+v", n, len(want), at)
		}
		wantOK(t, a, "s")
	})
}

// Writers at once get the places of their own originals, and each line of a reader has the
// same place.
func TestOriginalsOfWritersAtOnce(t *testing.T) {
	a := memory.New()
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			s, err := record.OpenSession(t.Context(), a, "s")
			if err != nil {
				t.Error(err)
				return
			}
			for n := range 20 {
				line := text(`{"role":"tool","content":"%s"}`, strings.Repeat(fmt.Sprint(w, n), 1+w*n))
				got, err := s.Edits(t.Context(), []redact.Text{record.Original(line), record.Original(line), text(`{"edit":{}}`)})
				if err != nil {
					t.Error(err)
					return
				}
				for _, at := range got.Originals {
					if piece, err := s.Read(t.Context(), "edits.jsonl", at.Off, int64(line.Len())); err != nil || string(piece) != line.String() {
						t.Errorf("at %+v is %s, %v; want %s", at, piece, err, line)
					}
				}
			}
		})
	}
	wg.Wait()
	s, n := session(t, a, "s"), 0
	for l, err := range s.EditsLines(t.Context(), 0) {
		must(t, err)
		line, off, ok := l.Original()
		if !ok {
			continue
		}
		piece, err := s.Read(t.Context(), "edits.jsonl", off, int64(len(line)))
		must(t, err)
		if n++; !bytes.Equal(piece, line) || !bytes.HasPrefix(line, []byte(`{"role"`)) {
			t.Errorf("line %d has its original %s at %d, where %s is", l.Seq, line, off, piece)
		}
	}
	if n != 160 {
		t.Errorf("%d originals, want 160", n)
	}
}

// Only a line whose single member is the original is read as one; in the log of an earlier
// build a message is the body, and has no place.
func TestLinesOfEdits(t *testing.T) {
	const message = `{"role":"user","content":"x"}`
	for body, want := range map[string]string{
		`{"original":` + message + `}`:                        message,
		`{"original":` + message + `,"role":"user"}`:          `{"original":` + message + `,"role":"user"}`,
		`{"original":` + message + ` }`:                       `{"original":` + message + ` }`,
		`{"original":"text","role":"user"}`:                   `{"original":"text","role":"user"}`,
		`{"original":"text"}`:                                 `{"original":"text"}`,
		`{"original":{}}`:                                     `{}`,
		message:                                               message,
		`{"edit":{"v":2}}`:                                    "",
		`{"edit":` + message + `,"original":` + message + `}`: "",
	} {
		s := session(t, memory.New(), "s")
		must(t, second(s.Edits(t.Context(), []redact.Text{text("%s", body)})))
		for l, err := range s.EditsLines(t.Context(), 0) {
			must(t, err)
			line, off, ok := l.Original()
			if string(line) != want || ok != (want != "") || (off > 0) != (ok && want != body) {
				t.Errorf("%s: %s at %d, %v; want %s", body, line, off, ok, want)
			}
		}
	}
}

// A reference to an original that was changed or removed yields no text, and verify names
// the log.
func TestChangedOriginalIsNotRead(t *testing.T) {
	for name, damage := range map[string]func(log string) string{
		"changed":     func(log string) string { return strings.Replace(log, "kept 0", "kept 9", 1) },
		"shifted":     func(log string) string { return strings.Replace(log, `{"seq":1`, `{"seq":01`, 1) },
		"cut off":     func(log string) string { return log[:150] },
		"no log left": func(string) string { return "" },
	} {
		a := memory.New()
		s := session(t, a, "s")
		kept := lines("kept", 2)
		places := logged(t, s, kept...)
		var c record.Content
		c.Same(inLog(kept[1], places[1]))
		c.Same(inLog(kept[0], places[0]))
		must(t, second(s.TranscriptOf(t.Context(), 1, &c)))
		must(t, second(s.Commit(t.Context(), 1, text(`{"v":1,"step":1}`))))
		wantOK(t, a, "s")
		key := mustKey(t, "s/edits.jsonl")
		log := damage(content(t, s, "edits.jsonl"))
		must(t, a.Remove(t.Context(), key))
		if log != "" {
			must(t, a.Append(t.Context(), key, 0, storage.Redacted(text("%s", log))))
		}
		var got error
		for l, err := range s.Whole(t.Context(), "transcript-pre-compact-001.jsonl") {
			if got = err; err == nil && string(l.Text) != kept[1].String() {
				t.Errorf("%s: %s", name, l.Text)
			}
		}
		changed := new(storage.ChangedError)
		if !errors.As(got, &changed) || changed.File != "edits.jsonl" {
			t.Errorf("%s: %v, want a ChangedError of edits.jsonl", name, got)
		}
		report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		must(t, err)
		if report.OK() {
			t.Errorf("%s: verify says ok", name)
		}
	}
}

func TestStretchOfALogIsOneOriginal(t *testing.T) {
	s := session(t, memory.New(), "s")
	kept := lines("kept", 3)
	places := logged(t, s, kept...)
	two := inLog(kept[0], places[0])
	two.Lines, two.Len = 2, places[1].Off+int64(kept[1].Len())-places[0].Off
	var c record.Content
	c.Same(two)
	if _, err := s.TranscriptOf(t.Context(), 1, &c); !errors.Is(err, record.ErrLine) {
		t.Errorf("two lines of a log: %v, want ErrLine", err)
	}
	one := two // the hash is right, and the range goes on in the next line
	one.Lines = 1
	log := content(t, s, "edits.jsonl")
	sum := sha256.Sum256([]byte(log[one.Off : one.Off+one.Len]))
	one.SHA256 = hex.EncodeToString(sum[:])
	c = record.Content{}
	c.Same(one)
	w, err := s.TranscriptOf(t.Context(), 1, &c)
	must(t, err)
	for _, err := range s.Whole(t.Context(), w.Key.Base()) {
		if !errors.Is(err, storage.ErrChanged) {
			t.Errorf("a range over two lines: %v, want ErrChanged", err)
		}
	}
}

// A scrub of an original leaves the references to it valid: in transcripts, in the line of
// its edit, and in the ledger.
func TestScrubbedOriginalIsStillReferredTo(t *testing.T) {
	for _, referred := range []bool{true, false} {
		scrubOriginal(t, referred)
	}
}

func scrubOriginal(t *testing.T, referred bool) {
	t.Helper()
	a := memory.New()
	s := session(t, a, "s")
	kept := []redact.Text{text(`{"role":"tool","content":"hunter2 is the word"}`), text(`{"role":"tool","content":"nothing"}`)}
	var all []redact.Text
	sums := make([]string, len(kept))
	for i, l := range kept {
		sum := sha256.Sum256([]byte(l.String()))
		all, sums[i] = append(all, record.Original(l)), hex.EncodeToString(sum[:])
	}
	w, err := s.Edits(t.Context(), append(all, text(`{"edit":{"evicted":["%s","%s"]}}`, sums[0], sums[1])))
	must(t, err)
	var c record.Content
	if referred {
		c.Same(inLog(kept[0], w.Originals[0]))
	}
	c.Same(inLog(kept[1], w.Originals[1]))
	must(t, second(s.TranscriptOf(t.Context(), 1, &c)))
	must(t, second(s.Commit(t.Context(), 1, text(`{"v":1,"step":1,"of":"%s"}`, sums[0]))))
	must(t, second(s.Scrub(t.Context(), record.ScrubOptions{Find: func(_ string, line []byte) (out [][2]int) {
		if at := bytes.Index(line, []byte("hunter2")); at >= 0 {
			out = append(out, [2]int{at, at + len("hunter2")})
		}
		return out
	}})))
	s = session(t, a, "s")
	var got []string
	for l, err := range s.Whole(t.Context(), "transcript-pre-compact-001.jsonl") {
		must(t, err)
		got = append(got, string(l.Text))
	}
	now := sha256.Sum256([]byte(`{"role":"tool","content":"******* is the word"}`))
	hash := hex.EncodeToString(now[:])
	want := []string{`{"role":"tool","content":"******* is the word"}`, kept[1].String()}
	if !referred {
		want = want[1:]
	}
	if !slices.Equal(got, want) {
		t.Errorf("after the scrub the transcript has %q, want %q", got, want)
	}
	if l := content(t, s, "ledger-001.json"); !strings.Contains(l, hash) {
		t.Errorf("the ledger has %s, want %s", l, hash)
	}
	if l := content(t, s, "edits.jsonl"); !strings.Contains(l, `"evicted":["`+hash) || strings.Contains(l, "hunter2") {
		t.Errorf("the log is %s, want %s", l, hash)
	}
	wantOK(t, a, "s")
}
