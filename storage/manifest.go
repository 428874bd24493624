package storage

import (
	"encoding/json"
	"time"

	"github.com/agentcompact/compact/redact"
)

// What a line of the manifest records.
const (
	opPut     = "put"     // the file is about to be created
	opCommit  = "commit"  // the ledger of Step is about to be created, over the files With
	opDone    = "done"    // the file exists and is durable
	opMark    = "mark"    // the log holds Bytes bytes, and its last line hashes to SHA256
	opHold    = "hold"    // the session must not be removed
	opRelease = "release" // it may be again
)

// record is a line of the manifest without its link. A file is announced
// before it is created: so whatever is in the folder and was not announced is
// somebody else's, and what was announced but is not there never was, unless a
// later line says that it is.
type record struct {
	Op     string    `json:"op"`
	At     time.Time `json:"at"`
	Name   string    `json:"name,omitempty"`
	Bytes  int64     `json:"bytes,omitempty"`
	SHA256 string    `json:"sha256,omitempty"`
	Step   int       `json:"step,omitempty"`
	With   []string  `json:"with,omitempty"`
	Reason string    `json:"reason,omitempty"` // of a hold; redacted
}

func (r record) body() string {
	r.At = r.At.UTC().Truncate(time.Millisecond)
	b, _ := json.Marshal(r) // cannot fail
	return string(b)
}

// put announces a file.
func put(name string, size int64, sum string) record {
	return record{Op: opPut, At: time.Now(), Name: name, Bytes: size, SHA256: sum}
}

// done says that what r announced exists.
func (r record) done() record {
	return record{Op: opDone, At: time.Now(), Name: r.Name, Bytes: r.Bytes, SHA256: r.SHA256, Step: r.Step}
}

func hold(op string, reason redact.Text) record {
	return record{Op: op, At: time.Now(), Reason: reason.String()}
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
	r, ok := parseRecord(body)
	if !ok {
		return
	}
	f.last = r.At
	switch r.Op {
	case opDone:
		f.done = max(f.done, r.Step)
	case opHold:
		f.held, f.reason = true, r.Reason
	case opRelease:
		f.held, f.reason = false, ""
	}
}
