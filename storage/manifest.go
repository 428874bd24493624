package storage

import (
	"encoding/json"
	"time"
)

// What a line of the manifest records.
const (
	opPut     = "put"     // the file is about to be created
	opCommit  = "commit"  // the ledger of Step is about to be created, over the files With
	opDone    = "done"    // the file exists and is durable
	opMark    = "mark"    // the log has Lines lines in Bytes bytes; the last one hashes to SHA256
	opHold    = "hold"    // the session must not be removed
	opRelease = "release" // it may be again
	opScrub   = "scrub"   // files wait, written anew without what turned out to be a secret
	opPlace   = "place"   // somebody lets them take their places
	opPlaced  = "placed"  // all of them have
	opVoid    = "void"    // a scrub that has begun and not said so does not come to be
	opErase   = "erase"   // it is being removed; nothing more is written
)

// record is a line of the manifest without its link. A file is announced
// before it is created: so whatever is in the folder and was not announced is
// somebody else's, and what was announced but is not there never was, unless a
// later line says that it is.
type record struct {
	Op string    `json:"op"`
	At time.Time `json:"at"`
	fileHash
	Lines  int64      `json:"lines,omitempty"`
	Step   int        `json:"step,omitempty"`
	With   []fileHash `json:"with,omitempty"`
	Reason string     `json:"reason,omitempty"` // of a hold and a scrub; redacted
	Who    string     `json:"who,omitempty"`    // of a hold, an erasure and a scrub; redacted

	Scrubbed []rehash `json:"scrubbed,omitempty"` // what the lines before say of these goes for them as they are now
	Scrub    string   `json:"scrub,omitempty"`    // which one a scrub, place or placed is about
	By       string   `json:"by,omitempty"`       // who of several lets files take their places
	Lease    int64    `json:"lease,omitempty"`    // milliseconds for which nobody else may
}

// fileHash is a file and what it holds.
type fileHash struct {
	Name   string `json:"name,omitempty"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256,omitempty"`
}

func (r record) body() string {
	r.At = r.At.UTC().Truncate(time.Millisecond)
	b, _ := json.Marshal(r) // cannot fail
	return string(b)
}

// put announces a file.
func put(f fileHash) record { return record{Op: opPut, At: time.Now(), fileHash: f} }

// mark says how far a log goes.
func mark(log string, t tail) record {
	return record{Op: opMark, At: time.Now(), fileHash: fileHash{log, t.end, t.head}, Lines: t.seq}
}

// done says that what r announced exists.
func (r record) done() record {
	return record{Op: opDone, At: time.Now(), fileHash: r.fileHash, Step: r.Step}
}

// parseRecord reads a line of the manifest. A torn line is no record.
func parseRecord(body []byte) (record, bool) {
	var r record
	if err := json.Unmarshal(body, &r); err != nil || r.Op == "" {
		return record{}, false
	}
	return r, true
}

// observe takes in a line.
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
		f.names = &nameList{r.Name, f.names}
	case opHold:
		f.held, f.reason = true, r.Reason
	case opRelease:
		f.held, f.reason = false, ""
	case opErase:
		f.erasing = true
	case opScrub, opPlace, opPlaced:
		f.observeScrub(r)
	}
}

// nameList is names, the newest first. A list is never changed: what is read
// speculatively is forgotten with its head.
type nameList struct {
	name   string
	before *nameList
}

func (l *nameList) has(name string) bool {
	for ; l != nil; l = l.before {
		if l.name == name {
			return true
		}
	}
	return false
}
