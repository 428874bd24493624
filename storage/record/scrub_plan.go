package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/storage"
)

// ErrScrub means that a scrub would leave a line that is not valid JSON.
var ErrScrub = errors.New("a line would no longer be JSON")

// rehash maps a hash in earlier lines of the manifest to a new hash: the hash of a
// file, or of the last line of a log at a mark.
type rehash struct {
	fileHash
	Was  string `json:"was"`            // SHA-256 before
	File bool   `json:"file,omitempty"` // the hash covers the whole file; otherwise the line that ends at Bytes
}

// waits reports whether a file waits to replace another file.
func waits(name string) bool { return strings.HasPrefix(name, scrubPrefix) }

// waiting returns the names of the waiting files of the scrub.
func (p *scrubPlan) waiting() (names []string) {
	for _, f := range p.changed() {
		names = append(names, waitingName(p.id, f.name))
	}
	return names
}

// scrubPlan holds the files of a session before and after a scrub.
type scrubPlan struct {
	files  []*scrubFile
	hashes map[string]string // of lines and stretches, before → after
	marks  map[string][]fileHash
	lines  int64                  // number of lines of the manifest
	id     string                 // id of the scrub
	puts   map[string]announcedAt // announced files that do not exist
}

// fenced reports whether every log ends with a fence.
func (p *scrubPlan) fenced(by fence) bool {
	for _, f := range p.files {
		if !isLog(f.name) {
			continue
		}
		lines := linesOf(f.was)
		if len(lines) == 0 {
			return false
		}
		l, ok := parseLink(lines[len(lines)-1])
		if !ok || fenceOf(l.body()) != by {
			return false
		}
	}
	return true
}

type scrubFile struct {
	name     string
	was, now []byte // of equal length, except for the mark at the end of a log
	places   int
}

// planScrub reads the session, and overwrites the secrets and the hashes of changed
// lines in memory.
func (s *Session) planScrub(ctx context.Context, find func(string, []byte) [][2]int) (*scrubPlan, error) {
	p := &scrubPlan{hashes: map[string]string{}, marks: map[string][]fileHash{}, puts: map[string]announcedAt{}}
	if err := s.readForScrub(ctx, p); err != nil {
		return nil, err
	}
	for _, f := range p.files {
		if err := p.overwrite(f, find); err != nil {
			return nil, &storage.Error{Op: "scrub", Key: child(s.dir, f.name), Err: err}
		}
	}
	p.stretches()
	for _, f := range p.files {
		p.follow(f)
		if isLog(f.name) {
			p.relink(f)
		}
	}
	return p, nil
}

// readForScrub reads the files that can hold text, the marks of the logs, and the announced
// files.
func (s *Session) readForScrub(ctx context.Context, p *scrubPlan) error {
	there := map[string]bool{}
	t, err := s.manifest.refresh(ctx)
	if err != nil {
		return err
	}
	p.lines = t.facts.lines
	for info, err := range s.Files(ctx) {
		if err != nil {
			return err
		}
		name := info.Key.Base()
		there[name] = true
		if info.Foreign != "" || waits(name) || name == manifestName || hasKind(name, indexKind) || hasKind(name, finalIndexKind) {
			continue
		}
		data, err := readWhole(ctx, s.a, info.Key)
		if err != nil {
			return err
		}
		if !isLog(name) { // a log is proven by its chain, and may have grown
			said, err := s.recorded(ctx, name)
			if err != nil {
				return err
			}
			if have := (fileHash{name, int64(len(data)), hashOf(data)}); !slices.Contains(said, have) {
				return differs(name, said, have)
			}
		}
		p.files = append(p.files, &scrubFile{name: name, was: data, now: bytes.Clone(data)})
	}
	return s.readManifestForScrub(ctx, p, there)
}

// readManifestForScrub reads the marks of the logs, and the announced files that are not
// there.
func (s *Session) readManifestForScrub(ctx context.Context, p *scrubPlan, there map[string]bool) error {
	var times []time.Time // of the lines
	for l, err := range checkedLines(ctx, s.manifest, 0) {
		if err != nil {
			return err
		}
		if r, ok := parseRecord(l.Body); ok && !l.Changed {
			p.sayMarks(r)
			times = append(times, r.At)
			if r.Op == opPut || r.Op == opCommit {
				p.puts[r.Name] = announcedAt{r.At, len(times)}
			}
		}
	}
	maps.DeleteFunc(p.puts, func(name string, _ announcedAt) bool { return there[name] })
	p.dropAbandoned(times)
	return nil
}

// sayMarks collects the marks of logs from a line of the manifest. If the line records a
// scrub, sayMarks updates the hashes of the marks that it has collected.
func (p *scrubPlan) sayMarks(r record) {
	if r.Op == opMark {
		p.marks[r.Name] = append(p.marks[r.Name], r.fileHash)
	}
	for _, h := range r.Scrubbed {
		for i, m := range p.marks[h.Name] {
			if !h.File && m.Bytes == h.Bytes && m.SHA256 == h.Was {
				p.marks[h.Name][i].SHA256 = h.SHA256
			}
		}
	}
}

func readWhole(ctx context.Context, a storage.Archive, k storage.Key) ([]byte, error) {
	r, err := a.Open(ctx, k, 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(&ctxReader{ctx, r})
	return data, storage.Wrap("read", k, errors.Join(err, r.Close()))
}

// overwrite overwrites the ranges that find returns for the lines of a file.
func (p *scrubPlan) overwrite(f *scrubFile, find func(string, []byte) [][2]int) error {
	for n, l := range linesOf(f.now) {
		if _, ok := parseStretch(l); ok && HasMessages(f.name) {
			continue // a reference has no text, and is needed to find its lines
		}
		body := l
		if link, ok := parseLink(l); ok && isLog(f.name) {
			body = l[len(l)-len(link.tail):]
		}
		spans := find(f.name, bytes.Clone(body))
		if len(spans) == 0 {
			continue
		}
		before, whole := bodyHash(f.name, l), bytes.Clone(l)
		if err := mask(l, body, spans); err != nil {
			return fmt.Errorf("line %d: %w", n+1, err)
		}
		if bytes.Equal(whole, l) {
			continue // already overwritten
		}
		f.places += len(spans)
		p.hashes[before] = bodyHash(f.name, l)
	}
	return nil
}

// mask overwrites spans of a part of a line with asterisks. If the line would become
// invalid JSON, because a span is in a number, it uses the same digit for all spans. If a
// span begins or ends within an escape (for example a line feed whose n looks like the
// beginning of the secret), either the whole escape is overwritten or no byte of it.
func mask(line, part []byte, spans [][2]int) error {
	was, valid := bytes.Clone(part), json.Valid(line)
	if valid {
		spans = wholeEscapes(part, spans)
	}
	for _, with := range []byte("*01") { // a number can't begin with several zeros
		copy(part, was)
		for _, at := range spans {
			if at[0] < 0 || at[1] > len(part) || at[0] > at[1] {
				return ErrScrub
			}
			for i := at[0]; i < at[1]; i++ {
				part[i] = with
			}
		}
		if !valid || json.Valid(line) {
			return nil
		}
	}
	copy(part, was)
	return ErrScrub
}

// wholeEscapes returns the spans without the escapes in which they begin, and with the
// whole escapes in which they end.
func wholeEscapes(part []byte, spans [][2]int) [][2]int {
	edges := make([]int, 0, 2*len(spans))
	for _, s := range spans {
		edges = append(edges, s[0], s[1])
	}
	slices.Sort(edges)
	ends := escapeEnds(part, edges)
	out := slices.Clone(spans)
	for i, s := range out {
		if end, ok := ends[s[0]]; ok {
			out[i] = [2]int{end, max(end, s[1])}
		}
		if end, ok := ends[s[1]]; ok {
			out[i][1] = end
		}
	}
	return out
}

// escapeEnds returns the end of the escape around each offset that is within one. The
// offsets are sorted, so that part is read once. Outside of JSON strings there is no
// backslash.
func escapeEnds(part []byte, offsets []int) map[int]int {
	ends := map[int]int{}
	for at := 0; len(offsets) > 0; {
		next := bytes.IndexByte(part[at:], '\\')
		if next < 0 {
			return ends
		}
		at += next
		end := at + 2
		if end <= len(part) && part[at+1] == 'u' {
			end = at + 6
		}
		end = min(end, len(part))
		for ; len(offsets) > 0 && offsets[0] < end; offsets = offsets[1:] {
			if offsets[0] > at {
				ends[offsets[0]] = end
			}
		}
		at = end
	}
	return ends
}

// bodyHash returns the hash by which other lines and files refer to a line; for a log,
// the hash of the line's body, or of the original in it.
func bodyHash(file string, line []byte) string {
	link, ok := parseLink(line)
	if !ok || !isLog(file) {
		return hashOf(line)
	}
	if text, ok := originalOf(link.body()); ok && file == editsName {
		return hashOf(text)
	}
	return hashOf(link.body())
}

// linesOf returns the lines of a file without line feeds. They share its memory.
func linesOf(data []byte) (lines [][]byte) {
	for len(data) > 0 {
		line, rest, _ := bytes.Cut(data, []byte("\n"))
		lines, data = append(lines, line[:len(line):len(line)]), rest
	}
	return lines
}

// stretches adds the hashes of consecutive lines that other transcripts refer to.
func (p *scrubPlan) stretches() {
	by := map[string]*scrubFile{}
	for _, f := range p.files {
		by[f.name] = f
	}
	for _, f := range p.files {
		for _, l := range linesOf(f.was) {
			var st struct {
				From   string   `json:"from"`
				At     [2]int64 `json:"at"`
				SHA256 string   `json:"sha256"`
			}
			if !bytes.HasPrefix(l, []byte(`{"from":"`)) || json.Unmarshal(l, &st) != nil || by[st.From] == nil {
				continue
			}
			from, off, end := by[st.From], st.At[0], st.At[0]+st.At[1]
			if off >= 0 && off <= end && end <= int64(len(from.was)) && hashOf(from.was[off:end]) == st.SHA256 {
				p.hashes[st.SHA256] = hashOf(from.now[off:end])
			}
		}
	}
}

// follow replaces old hashes by new ones.
func (p *scrubPlan) follow(f *scrubFile) {
	var out []byte
	done := 0
	for at := range hashesIn(f.now) {
		if now, ok := p.hashes[string(f.now[at:at+hashLen])]; ok {
			out = append(append(out, f.now[done:at]...), now...)
			done = at + hashLen
		}
	}
	if done > 0 {
		f.now = append(out, f.now[done:]...)
	}
}

// hashesIn yields the offsets of the words of a text that can be hashes.
func hashesIn(text []byte) iter.Seq[int] {
	return func(yield func(at int) bool) {
		for at := 0; at+hashLen <= len(text); {
			last := at + hashLen - 1
			for last >= at && isHexDigit(text[last]) {
				last--
			}
			if last >= at { // no hash begins before this byte
				at = last + 1
				continue
			}
			end := at + hashLen
			for end < len(text) && isWordByte(text[end]) {
				end++
			}
			if end == at+hashLen && (at == 0 || !isWordByte(text[at-1])) && !yield(at) {
				return
			}
			at = end
		}
	}
}

// isWordByte reports whether c is a letter, a digit or an underscore, in ASCII.
func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// relink computes the chain of a changed log again.
func (p *scrubPlan) relink(f *scrubFile) {
	if bytes.Equal(f.was, f.now) {
		return
	}
	var out bytes.Buffer
	prev, last := "", int64(0)
	for _, l := range linesOf(f.now) {
		link1, ok := parseLink(l)
		if ok {
			if prev == "" {
				prev = link1.prev // the genesis of the first line
			}
			text := link(link1.seq, prev, string(link1.body()))
			prev, last = hashOf([]byte(text)), link1.seq
			l = []byte(text)
		}
		out.Write(l)
		out.WriteByte('\n')
	}
	out.WriteString(link(last+1, prev, scrubMark) + "\n")
	f.now = out.Bytes()
}

func (p *scrubPlan) changed() (out []*scrubFile) {
	for _, f := range p.files {
		if !bytes.Equal(f.was, f.now) {
			out = append(out, f)
		}
	}
	return out
}

func (p *scrubPlan) report() (out []ScrubbedFile) {
	for _, f := range p.changed() {
		out = append(out, ScrubbedFile{f.name, f.places, hashOf(f.was), hashOf(f.now)})
	}
	return out
}

// rehashed returns the new hashes for the manifest: of files, and of marks in logs.
func (p *scrubPlan) rehashed(*Session) (out []rehash) {
	for _, f := range p.changed() {
		out = append(out, rehash{fileHash{f.name, int64(len(f.now)), hashOf(f.now)}, hashOf(f.was), true})
		for _, m := range p.marks[f.name] {
			if m.Bytes < 1 || m.Bytes > int64(len(f.was)) {
				continue
			}
			line := f.now[bytes.LastIndexByte(f.now[:m.Bytes-1], '\n')+1 : m.Bytes-1]
			if now := hashOf(line); now != m.SHA256 {
				out = append(out, rehash{fileHash{f.name, m.Bytes, now}, m.SHA256, false})
			}
		}
	}
	return out
}
