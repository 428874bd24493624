package record

import (
	"encoding/json"
	"time"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// Operations in a line of the manifest.
const (
	opPut     = "put"     // the file is about to be created
	opCommit  = "commit"  // the ledger of Step is about to be created, over the files With
	opDone    = "done"    // the file exists and is durable
	opMark    = "mark"    // the log has Lines lines in Bytes bytes; the last line hashes to SHA256
	opHold    = "hold"    // the session must not be removed
	opRelease = "release" // the hold ends
	opScrub   = "scrub"   // rewritten files without a secret wait to be placed
	opPlace   = "place"   // a process is putting these files in place
	opPlaced  = "placed"  // all rewritten files are in place
	opVoid    = "void"    // a scrub that was begun but not recorded is void
	opErase   = "erase"   // the session is being removed; nothing more is written
)

// record is a line of the manifest without its link. A file is announced before
// it is created. So an unannounced file is foreign, and an announced file that
// is missing was never created, unless a later line confirms it.
type record struct {
	Op string    `json:"op"`
	At time.Time `json:"at"`
	fileHash
	Lines  int64      `json:"lines,omitempty"`
	Step   int        `json:"step,omitempty"`
	With   []fileHash `json:"with,omitempty"`
	Reason string     `json:"reason,omitempty"` // for a hold and a scrub; redacted
	Who    string     `json:"who,omitempty"`    // for a hold, an erasure and a scrub; redacted

	Scrubbed []rehash `json:"scrubbed,omitempty"` // new hashes of files, for all earlier lines about them
	Scrub    string   `json:"scrub,omitempty"`    // id of the scrub, for scrub, place and placed
	By       string   `json:"by,omitempty"`       // process that is placing or removing the files
	Lease    int64    `json:"lease,omitempty"`    // time in milliseconds during which no other process may replace files
}

// fileHash is a file with its size and hash.
type fileHash struct {
	Name   string `json:"name,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

func (r record) body() string {
	r.At = r.At.UTC().Truncate(time.Millisecond)
	b, _ := json.Marshal(r) // never fails
	return string(b)
}

// put returns the announcement of a file.
func put(f fileHash) record { return record{Op: opPut, At: time.Now(), fileHash: f} }

// mark returns the record of a log's length.
func mark(log string, t tail) record {
	return record{Op: opMark, At: time.Now(), fileHash: fileHash{log, t.end, t.head}, Lines: t.seq}
}

// done returns the confirmation that the file announced by r exists.
func (r record) done() record {
	return record{Op: opDone, At: time.Now(), fileHash: r.fileHash, Step: r.Step}
}

// parseRecord parses a line of the manifest. A torn line is not a record. Lines as this
// program writes them are parsed without reflection, because opening a session parses all of them.
func parseRecord(body []byte) (record, bool) {
	var r record
	var fast jsonscan.Record
	fast.Reset(body)
	if r.read(&fast); !fast.Done() {
		r = record{}
		if err := json.Unmarshal(body, &r); err != nil {
			return record{}, false
		}
	}
	if r.Op == "" {
		return record{}, false
	}
	return r, true
}

// read reads a line of the manifest, with the members in their order.
func (r *record) read(from *jsonscan.Record) {
	from.Object(func(from *jsonscan.Record) {
		from.String("op", &r.Op)
		from.Text("at", &r.At)
		r.fileHash.read(from)
		from.Int64("lines", &r.Lines)
		from.Int("step", &r.Step)
		jsonscan.List(from, "with", &r.With, func(from *jsonscan.Record, to *fileHash) { from.Object(to.read) })
		from.String("reason", &r.Reason)
		from.String("who", &r.Who)
		jsonscan.List(from, "scrubbed", &r.Scrubbed, func(from *jsonscan.Record, to *rehash) {
			from.Object(func(from *jsonscan.Record) {
				to.fileHash.read(from)
				from.String("was", &to.Was)
				from.True("file", &to.File)
			})
		})
		from.String("scrub", &r.Scrub)
		from.String("by", &r.By)
		from.Int64("lease", &r.Lease)
	})
}

func (f *fileHash) read(from *jsonscan.Record) {
	from.String("name", &f.Name)
	from.Int64("bytes", &f.Bytes)
	from.String("sha256", &f.SHA256)
}

// observe updates the facts with a line.
func (f *facts) observe(body []byte) {
	f.lines++
	r, ok := parseRecord(body)
	if !ok {
		return
	}
	f.last = r.At
	f.ledgers = f.ledgers.and(r)
	switch r.Op {
	case opPut:
		f.names = &nameList{r.Name, r.SHA256, f.names}
	case opHold:
		f.hold = LegalHold{Held: true, Since: r.At, Who: r.Who, Reason: r.Reason}
	case opRelease:
		f.hold = LegalHold{}
	case opErase:
		f.erasing, f.eraser = true, holderOf(r)
	case opScrub, opPlace, opPlaced:
		f.observeScrub(r)
	}
}

// nameList is an immutable linked list of names, newest first. A caller that reads
// further lines in advance discards them by not storing the new head.
type nameList struct {
	name   string
	sha256 string
	before *nameList
}

// announces reports whether a file was announced with this name and this hash.
func (l *nameList) announces(name, sha256 string) bool {
	for ; l != nil; l = l.before {
		if l.name == name && l.sha256 == sha256 {
			return true
		}
	}
	return false
}

func (l *nameList) has(name string) bool {
	for ; l != nil; l = l.before {
		if l.name == name {
			return true
		}
	}
	return false
}
