package record

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// manifestIndex holds the records of the manifest.
type manifestIndex struct {
	announced map[string][]fileHash // by name
	done      map[string]fileHash   // by name
	commits   map[int][]record      // by step
	marks     map[string][]logMark  // by log
	erasing   bool                  // an erasure has begun
}

func (v *verifier) readManifest(ctx context.Context) error {
	m := &manifestIndex{announced: map[string][]fileHash{}, done: map[string]fileHash{}, commits: map[int][]record{}, marks: map[string][]logMark{}}
	v.manifest = m
	if _, ok := v.there[manifestName]; !ok {
		if v.onlyLogs() && v.opts.Head == "" {
			v.note("there is no manifest yet: only the chains of the logs are proven")
		} else {
			v.problem(Removed, manifestName, 0, "without it nothing else can be proved")
		}
		return nil
	}
	err := v.checkLog(ctx, manifestName, nil, func(number int, body []byte, hash string) {
		v.heads = append(v.heads, hash)
		r, ok := parseRecord(body)
		if ok {
			m.add(r)
		}
		if r.Op == opScrub {
			v.noteScrub(r)
		}
		if r.Op == opErase {
			v.note("%s began to erase this session at %s; archive erase completes it", cmp.Or(r.Who, "somebody"), r.At.UTC().Format("2006-01-02 15:04 UTC"))
		}
	})
	if err == nil && len(v.heads) == 0 {
		err = v.silent(ctx)
	}
	return err
}

// noteScrub adds a note about a scrub: its files, its user, and its reason.
func (v *verifier) noteScrub(r record) {
	files := 0
	for _, h := range r.Scrubbed {
		if h.File {
			files++
		}
	}
	text := fmt.Sprintf("scrubbed at %s: %d files were rewritten", r.At.Format(time.RFC3339), files)
	if r.Who != "" {
		text += " by " + r.Who
	}
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	v.note("%s", text)
}

// silent checks a manifest without records. A file is created after its
// announcement is durable. So if there is any file except logs, the manifest was
// emptied or overwritten. If there are only logs, a crash may have cut off the
// manifest's first line, of which only the beginning is left.
func (v *verifier) silent(ctx context.Context) error {
	if v.onlyLogs() && v.opts.Head == "" {
		crashed, err := v.tornAtFirstLine(ctx)
		if err != nil || crashed {
			return err
		}
	}
	v.problem(Truncated, manifestName, 0, "it has no line, but there are %d other files: it was emptied or overwritten", len(v.there)-1)
	return nil
}

func (v *verifier) onlyLogs() bool {
	for name := range v.there {
		if !isLog(name) {
			return false
		}
	}
	return true
}

// tornAtFirstLine reports whether the manifest consists of a first line that a crash
// cut off: nothing, its beginning, or unwritten space.
func (v *verifier) tornAtFirstLine(ctx context.Context) (bool, error) {
	key := child(v.dir, manifestName)
	var begins []string
	longest := 0
	for version := 1; version <= FormatVersion; version++ {
		b := linkSeq + "1" + linkPrev + genesisOf(version, key) + linkEnd
		begins, longest = append(begins, b), max(longest, len(b))
	}
	r, err := v.a.Open(ctx, key, 0, int64(longest))
	var head []byte
	if err == nil {
		head, err = io.ReadAll(&ctxReader{ctx, r})
		err = errors.Join(err, r.Close())
	}
	if err != nil {
		return false, v.unreadable(ctx, manifestName, err)
	}
	torn := slices.ContainsFunc(begins, func(b string) bool { return strings.HasPrefix(b, string(head)) })
	return torn || len(bytes.Trim(head, "\x00")) == 0, nil
}

func (m *manifestIndex) add(r record) {
	switch r.Op {
	case opPut:
		m.announced[r.Name] = append(m.announced[r.Name], r.fileHash)
	case opCommit:
		m.announced[r.Name] = append(m.announced[r.Name], r.fileHash)
		m.commits[r.Step] = append(m.commits[r.Step], r)
	case opDone:
		m.done[r.Name] = r.fileHash
	case opMark:
		m.marks[r.Name] = append(m.marks[r.Name], logMark{r.Bytes, r.SHA256, r.Lines})
	case opScrub:
		m.rehash(r.Scrubbed)
	case opErase:
		m.erasing = true
	}
}

// rehash replaces the hashes in records from before a scrub.
func (m *manifestIndex) rehash(by []rehash) {
	for name := range m.announced {
		m.announced[name] = rehashed(m.announced[name], by)
	}
	for name, f := range m.done {
		m.done[name] = rehashed([]fileHash{f}, by)[0]
	}
	for _, commits := range m.commits {
		for i := range commits {
			commits[i].fileHash = rehashed([]fileHash{commits[i].fileHash}, by)[0]
			commits[i].With = rehashed(slices.Clone(commits[i].With), by)
		}
	}
	for _, h := range by {
		for i, mark := range m.marks[h.Name] {
			if !h.File && mark.end == h.Bytes && mark.head == h.Was {
				m.marks[h.Name][i].head = h.SHA256
			}
		}
	}
}

func (v *verifier) checkLogs(ctx context.Context) error {
	for _, name := range []string{eventsName, journalName, editsName} {
		marks := v.manifest.marks[name]
		if _, ok := v.there[name]; !ok {
			if len(marks) > 0 && !v.appeared(ctx, name) {
				v.problem(Removed, name, 0, "the manifest records %d lines of it", marks[len(marks)-1].lines)
			}
			continue
		}
		var each func(int, []byte, string)
		if name == editsName && v.opts.Edits != nil {
			each = (&editsCheck{v: v}).record
		}
		if err := v.checkLog(ctx, name, marks, each); err != nil {
			return err
		}
	}
	return nil
}

// checkFiles reads every created file, and decides which of them belong to a
// committed step.
func (v *verifier) checkFiles(ctx context.Context) error {
	hashes := map[string]fileHash{}
	for _, name := range slices.Sorted(maps.Keys(v.there)) {
		if isLog(name) || waits(name) { // a waiting file may be removed at any time, and proves nothing
			continue
		}
		sum, size, err := v.hash(ctx, name)
		v.progress(v.there[name])
		if err != nil {
			if err := v.unreadable(ctx, name, err); err != nil {
				return err
			}
			continue
		}
		hashes[name] = fileHash{name, size, sum}
	}
	stored := v.manifest.stored(hashes)
	v.referred(hashes, stored)
	for _, name := range slices.Sorted(maps.Keys(v.there)) {
		v.checkFile(name, hashes, stored)
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if _, ok := v.there[name]; !ok && !v.appeared(ctx, name) {
			v.problem(Removed, name, 0, "%s", stored[name])
		}
	}
	return v.checkStretches(ctx, hashes)
}

// stored returns the files that must exist, with their hashes: confirmed files,
// and files of successful commits.
func (m *manifestIndex) stored(hashes map[string]fileHash) map[string]fileHash {
	out := maps.Clone(m.done)
	for step, commits := range m.commits {
		ledger := ledgerKind.file(step, 1)
		have, ok := m.done[ledger]
		if !ok {
			have, ok = hashes[ledger]
		}
		if !ok {
			continue // never created
		}
		r := committedBy(commits, have, hashes)
		out[ledger] = r.fileHash
		for _, f := range r.With {
			out[f.Name] = f
		}
	}
	return out
}

// committedBy returns the announcement under which a ledger was created. If several
// announce the same bytes, as after an interrupted attempt, it returns one whose
// files all exist, because they are stored before the ledger.
func committedBy(commits []record, have fileHash, hashes map[string]fileHash) record {
	r := commits[0] // for a changed ledger, the first announcement is the likely one
	for _, c := range commits {
		if c.fileHash != have {
			continue
		}
		r = c
		if !slices.ContainsFunc(c.With, func(f fileHash) bool { return hashes[f.Name] != f }) {
			break
		}
	}
	return r
}

func (v *verifier) checkFile(name string, hashes, stored map[string]fileHash) {
	file := FileReport{Name: name, Bytes: v.there[name], State: StateAbandoned}
	have, readable := hashes[name]
	want := v.manifest.announced[name]
	if s, ok := stored[name]; ok {
		file.State, want = StateStored, []fileHash{s}
	}
	switch {
	case isLog(name):
		file.State = StateLog
	case waits(name):
		v.note("%s: a scrub was interrupted: run scrub again to finish it", name)
	case len(want) == 0:
		file.State = StateUnknown
		if len(v.heads) > 0 { // for an empty manifest this is reported once for all files
			v.problem(Added, name, 0, "the manifest does not list it")
		}
	case readable && !slices.Contains(want, have):
		v.differs(have, want[0], stored)
	}
	v.report.Files = append(v.report.Files, file)
	v.report.Bytes += file.Bytes
}

// differs reports how a file differs from its record.
func (v *verifier) differs(have, want fileHash, stored map[string]fileHash) {
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if other := stored[name]; name != have.Name && other.SHA256 == have.SHA256 {
			v.problem(Changed, have.Name, 0, "it has the stored content of %s", name)
			return
		}
	}
	kind := Changed
	if have.Bytes < want.Bytes {
		kind = Truncated
	}
	v.problem(kind, have.Name, 0, "it holds %s, the manifest says %s", have, want)
}

// String returns the file's size and hash for details of problems.
func (f fileHash) String() string {
	return fmt.Sprintf("%d bytes with SHA-256 %.12s…", f.Bytes, f.SHA256)
}

// appeared reports whether a file that was not listed exists now, because
// another process is writing to the session.
func (v *verifier) appeared(ctx context.Context, name string) bool {
	r, err := v.a.Open(ctx, child(v.dir, name), 0, 1)
	if err != nil {
		return false
	}
	return errors.Join(r.Close()) == nil
}

// checkSteps counts the ledgers, and checks that their numbers have no gaps.
func (v *verifier) checkSteps(context.Context) error {
	highest := 0
	for name := range v.there {
		if n, ok := ledgerKind.number(name); ok {
			highest = max(highest, n)
		}
	}
	for step := 1; step <= highest; step++ {
		name := ledgerKind.file(step, 1)
		if _, ok := v.there[name]; ok {
			v.report.Steps++
		} else if _, told := v.manifest.done[name]; !told {
			v.problem(Removed, name, 0, "later steps are committed")
		}
	}
	return nil
}
