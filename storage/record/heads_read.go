package record

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
)

// A HeadBook merges heads: the heads beside the sessions, and copies that are
// stored elsewhere. A line that is only in a copy counts like any other line,
// and is reported as a problem.
//
// It is not safe for use by several goroutines while Copy is called.
type HeadBook struct {
	public   []ed25519.PublicKey
	writers  map[string]*headWriter
	sessions map[string][]*headLine // by headID
	stones   map[string][]Tombstone // by manifest head
	graves   map[string][]Tombstone // by [Tombstone.Session]
	names    map[string]string      // folder by headID
	report   Report                 // report about the files of heads
	copied   bool
	unsigned map[string]bool // hashes of lines with an unchecked signature; a copy has the same lines

	forged map[string]bool // hashes of lines without a valid signature, which are ignored
}

// headWriter holds the chain of one writer.
type headWriter struct {
	hashes []string // hashes of its lines
	file   string
}

// headLine is a line of heads.
type headLine struct {
	head
	hash   string
	copied bool // the line is in a copy
}

// HeadsOptions is for [ReadHeads]. The zero value is valid.
type HeadsOptions struct {
	// Public are the keys that may have signed lines; a line without such a signature
	// is a problem. Without keys, signatures are not checked.
	Public []ed25519.PublicKey
}

// ReadHeads reads the heads beside the sessions of an archive. An archive without heads
// is not an error, but then heads prove nothing.
func ReadHeads(ctx context.Context, a storage.Archive, opts HeadsOptions) (*HeadBook, error) {
	b := &HeadBook{public: opts.Public, writers: map[string]*headWriter{}, sessions: map[string][]*headLine{}, stones: map[string][]Tombstone{}, graves: map[string][]Tombstone{}, names: map[string]string{}, forged: map[string]bool{}, unsigned: map[string]bool{}}
	b.report.Dir = headsName
	for info, err := range a.List(ctx, keyOf(headsName)) {
		if err != nil {
			return nil, err
		}
		if err := b.read(ctx, a, info); err != nil {
			return nil, err
		}
	}
	if err := b.readStones(ctx, a); err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		b.problem(Unreadable, erasedName, 0, "%v", err)
	}
	return b, b.readNames(ctx, a)
}

// read reads the chain of one writer.
func (b *HeadBook) read(ctx context.Context, a storage.Archive, info storage.Info) error {
	name := strings.TrimPrefix(info.Key.String(), headsName+"/")
	writer, ok := strings.CutSuffix(name, ".jsonl")
	if info.Foreign != "" || !ok || strings.Contains(writer, "/") {
		b.problem(Added, info.Key.String()+info.Foreign, 0, "no session writes such a file")
		return nil
	}
	b.report.Files = append(b.report.Files, FileReport{name, info.Size, StateLog})
	b.report.Bytes += info.Size
	w := &headWriter{file: name}
	b.writers[writer] = w
	v := &verifier{a: a, dir: keyOf(headsName)}
	err := v.checkLog(ctx, name, nil, func(number int, body []byte, hash string) {
		b.take(w, writer, number, body, hash, false)
	})
	if err == nil {
		err = b.checkSigned(ctx, a, info.Key)
	}
	if err == nil && len(w.hashes) == 0 && len(v.report.Problems) == 0 {
		v.note("%s: it has no line: it was emptied, or its process crashed while it wrote the first one", name)
	}
	b.report.Problems = append(b.report.Problems, v.report.Problems...)
	b.report.Notes = append(b.report.Notes, v.report.Notes...)
	return err
}

// take adds one line of a writer.
func (b *HeadBook) take(w *headWriter, writer string, number int, body []byte, hash string, copied bool) {
	w.hashes = append(w.hashes, hash)
	var l headLine
	if bytes.HasPrefix(body, []byte(tornObject)) {
		return
	}
	if err := json.Unmarshal(body, &l.head); err != nil || l.Op == "" || l.At.IsZero() || !isHash(l.Session) || !isHash(l.Life) || !isHash(l.Head) {
		b.problem(Unreadable, w.file, number, "it is not a line of heads")
		return
	}
	if l.Writer != writer {
		b.problem(Changed, w.file, number, "it belongs to the heads of %s", segment.Quote(l.Writer))
	}
	l.hash, l.copied = hash, copied
	b.sessions[l.Session] = append(b.sessions[l.Session], &l)
}

// checkSigned checks the signature of each line.
func (b *HeadBook) checkSigned(ctx context.Context, a storage.Archive, k storage.Key) error {
	number := 0
	return eachLineOf(ctx, a, k, 0, func(l rawLine) error {
		number++
		if _, ok := parseLink(l.text); ok {
			b.checkSignature(k.Base(), number, l.text)
		}
		return nil
	})
}

func (b *HeadBook) checkSignature(file string, number int, line []byte) {
	text, sig := unsigned(line)
	switch {
	case len(b.public) == 0 && sig != nil:
		b.unsigned[hashOf(line)] = true
	case len(b.public) == 0:
	case sig == nil:
		b.problem(Changed, file, number, "it is not signed")
		b.forged[hashOf(line)] = true
	case !slices.ContainsFunc(b.public, func(k ed25519.PublicKey) bool { return ed25519.Verify(k, []byte(text), sig) }):
		b.problem(Changed, file, number, "it is signed with another key, or was changed")
		b.forged[hashOf(line)] = true
	}
}

// Copy adds heads that were stored elsewhere: the lines of any number of
// writers, each writer's in order. A line that is missing in the archive is a
// problem.
func (b *HeadBook) Copy(ctx context.Context, r io.Reader, file string) error {
	b.copied = true
	chains := map[string]*headWriter{}
	number := 0
	return eachLine(ctx, r, 0, func(l rawLine) error {
		number++
		if len(l.text) == 0 {
			return nil
		}
		link, ok := parseLink(l.text)
		var h head
		if ok {
			ok = json.Unmarshal(link.body(), &h) == nil
		}
		if !ok {
			b.problem(Unreadable, file, number, "it is not a line of heads")
			return nil
		}
		if _, torn := link.torn(); torn {
			return nil // not a line of a writer; the next line holds its hash
		}
		b.checkSignature(file, number, l.text)
		b.compare(chains, link, h, l.text, file, number)
		return nil
	})
}

// compare compares a line of a copy with the archive's lines of its writer.
func (b *HeadBook) compare(chains map[string]*headWriter, link linked, h head, text []byte, file string, number int) {
	here := b.writers[h.Writer]
	hash := hashOf(text)
	switch {
	case here == nil:
		if chains[h.Writer] == nil {
			chains[h.Writer] = &headWriter{file: file}
			b.problem(Removed, h.Writer+".jsonl", 0, "the copy has heads of this writer, the archive has none")
		}
	case int(link.seq) > len(here.hashes):
		if chains[h.Writer] == nil {
			chains[h.Writer] = &headWriter{file: file}
			b.problem(Truncated, here.file, 0, "it ends with line %d, the copy has line %d", len(here.hashes), link.seq)
		}
	case here.hashes[link.seq-1] == hash:
		b.mark(h.Session, hash)
		return
	default:
		b.problem(Changed, here.file, int(link.seq), "the copy has another line %d", link.seq)
	}
	b.take(&headWriter{file: file}, h.Writer, number, link.body(), hash, true)
}

// mark records that a line is in a copy.
func (b *HeadBook) mark(session, hash string) {
	for _, l := range b.sessions[session] {
		if l.hash == hash {
			l.copied = true
		}
	}
}

func (b *HeadBook) problem(kind ProblemKind, file string, line int, format string, args ...any) {
	b.report.Problems = append(b.report.Problems, Problem{kind, file, line, fmt.Sprintf(format, args...)})
}

// readStones reads the tombstones.
func (b *HeadBook) readStones(ctx context.Context, a storage.Archive) error {
	for t, err := range Tombstones(ctx, a) {
		if err != nil {
			return err
		}
		if t.Head != "" {
			b.stones[t.Head] = append(b.stones[t.Head], t)
		}
		b.graves[t.Session] = append(b.graves[t.Session], t)
	}
	return nil
}

// readNames reads the names for the hashes of sessions.
func (b *HeadBook) readNames(ctx context.Context, a storage.Archive) error {
	for info, err := range a.List(ctx, keyOf(namesName)) {
		if err != nil {
			return err
		}
		if info.Foreign == "" && info.Size < segment.MaxKey*2 {
			if err := b.readName(ctx, a, info.Key); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *HeadBook) readName(ctx context.Context, a storage.Archive, k storage.Key) error {
	return eachLineOf(ctx, a, k, 0, func(l rawLine) error {
		var n struct{ Session string }
		if json.Unmarshal(l.text, &n) == nil && k == nameKey(headID(keyOf(n.Session))) {
			b.names[headID(keyOf(n.Session))] = n.Session
		}
		return nil
	})
}

// Report returns the problems of the heads themselves. The Files of the report are the
// files of the writers.
func (b *HeadBook) Report() Report {
	r := b.report
	r.Problems, r.Notes = slices.Clone(r.Problems), slices.Clone(r.Notes)
	if n := len(b.unsigned); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("no public key was given; signatures that were not checked: %d", n))
	}
	return r
}

// Writers returns how many processes wrote heads.
func (b *HeadBook) Writers() int { return len(b.writers) }

// life holds the heads of one life of a session, from its first line to its
// erasure.
type life struct {
	id    string
	lines []*headLine
}

// lives returns the lives of a session, in order of their first heads.
func (b *HeadBook) lives(session string) (all []*life) {
	for _, l := range b.sessions[session] {
		if b.forged[l.hash] {
			continue
		}
		i := slices.IndexFunc(all, func(x *life) bool { return x.id == l.Life })
		if i < 0 {
			i, all = len(all), append(all, &life{id: l.Life})
		}
		all[i].lines = append(all[i].lines, l)
	}
	return all
}

// erasure returns the line of the erasure, nil if there is none. If an interrupted
// erasure was repeated, erasure returns the line about the last line of the manifest,
// because the earlier ones may lack a tombstone. It compares times last: the clocks of
// two processes can differ.
func (x *life) erasure() (last *headLine) {
	for _, l := range x.lines {
		if l.Op == opErase && (last == nil || cmp.Or(cmp.Compare(l.Line, last.Line), l.At.Compare(last.At)) > 0) {
			last = l
		}
	}
	return last
}

// last returns the line with the latest state of the manifest.
func (x *life) last() *headLine {
	return slices.MaxFunc(x.lines, func(p, q *headLine) int { return int(p.Line - q.Line) })
}

// said describes a line in words.
func (l *headLine) said() string {
	s := l.Op
	if l.Step > 0 {
		s += fmt.Sprintf(" of step %d", l.Step)
	}
	s += " at " + l.At.UTC().Format(time.RFC3339)
	return s + by(l.Who)
}

// WriteHeads writes the lines of all writers to w, in order for each writer,
// for [HeadBook.Copy].
func WriteHeads(ctx context.Context, a storage.Archive, w io.Writer) error {
	for info, err := range a.List(ctx, keyOf(headsName)) {
		if err != nil {
			return err
		}
		if info.Foreign != "" {
			continue
		}
		err := eachLineOf(ctx, a, info.Key, 0, func(l rawLine) error {
			if _, ok := parseLink(l.text); !ok {
				return nil // an incomplete line that a crash left
			}
			_, err := w.Write(append(l.text[:len(l.text):len(l.text)], '\n'))
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
