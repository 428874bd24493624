package ledger

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/token"
)

// Version is the format version of ledger-NNN.json.
const Version = 2

// The kinds of steps that are not compactions.
const (
	KindTidy = "tidy" // edits of results that no call had sent yet
	KindVoid = "void" // no edits; states that no view used the edits with the same owner, outcome and Try
)

// A Step is the content of ledger-NNN.json: the edits of one compaction, and the
// prefix that they apply to. It holds fingerprints, positions and the summary, but no
// other text of the history. A step in use is immutable.
type Step struct {
	V           int                `json:"v"`
	Key         string             `json:"key,omitempty"` // id of the key that seals its fingerprints; "" = not sealed
	Step        int                `json:"step"`
	Session     string             `json:"session"`
	Agent       string             `json:"agent,omitempty"`
	Branch      string             `json:"branch,omitempty"`
	Kind        string             `json:"kind"` // "preflight", "manual", "always", KindTidy, KindVoid
	Note        string             `json:"note,omitempty"`
	Model       string             `json:"model"`
	Window      int                `json:"window"`
	Preset      string             `json:"preset,omitempty"`   // configured preset; "" in older ledgers
	Strategy    string             `json:"strategy,omitempty"` // configured strategy, if the step made a summary
	In          reduce.Link        `json:"in"`                 // shortest prefix that contains all edited messages, as earlier steps left it
	Out         reduce.Link        `json:"out"`                // the prefix after the edits
	Before      int                `json:"tokens_before"`
	After       int                `json:"tokens_after"`
	Bound       int                `json:"upper_bound"`           // upper bound of After if the tokenizer is not public
	Calibration *token.Calibration `json:"calibration,omitempty"` // calibration that the decision used
	Keep        policy.Keep        `json:"keep"`
	Forms       policy.Forms       `json:"forms,omitempty"`
	Recipes     []reduce.Recipe    `json:"recipes"`
	Archive     string             `json:"archive,omitempty"` // file with the removed messages
	Evicted     []Eviction         `json:"evicted,omitempty"` // the places of the messages in the archive
	Index       *IndexRef          `json:"index,omitempty"`
	Turns       *Turns             `json:"turns,omitempty"`
	// random text of an edit on arrival, so that a void line with the same text does not match the same
	// edit of another process; "" in older lines
	Try     string `json:"try,omitempty"`
	Numbers int    `json:"numbers,omitempty"` // last number by which the step's summary cites a message

	// Edits is the number of the last line of edits.jsonl before the step. The
	// edits of a call between two steps have no step number, and Evicted lists
	// their originals.
	Edits int64 `json:"edits,omitempty"`
	Seq   int64 `json:"-"` // number of a line of edits.jsonl
	Off   int64 `json:"-"` // offset of that line's originals in edits.jsonl

	// Volatile marks steps that the archive did not store (storage.on_error:
	// continue).
	Volatile bool `json:"-"`

	// Changed is set if the ledger in the archive differs from the stored one.
	// The number of the step is taken, and its edits are unknown.
	Changed *storage.ChangedError `json:"-"`
}

// An Eviction is a message that a step edited or removed, with its place in the
// archive and its hash. The hash lets a reader verify the archived line.
type Eviction struct {
	FP     message.Fingerprint `json:"fp"`             // of the unedited message, sealed
	File   string              `json:"file,omitempty"` // file with its line; "" = the ledger's archive file
	Off    int64               `json:"off"`            // offset of its line in that file
	Len    int64               `json:"len"`            // length of the line without the line feed
	SHA256 string              `json:"sha256"`
	Is     string              `json:"is"` // the decision
	Turn   uint32              `json:"turn,omitempty"`
	Number uint32              `json:"n,omitempty"` // number by which the step's summary cites the message: [s12]

	Of     message.Fingerprint `json:"-"` // FP before sealing
	Logged record.OriginalAt   `json:"-"` // place in edits.jsonl, for an edit between two steps; zero = unknown
}

// An IndexRef is the turn index of a step, and the first step that it covers.
type IndexRef struct {
	File  string `json:"file"`
	First int    `json:"first"`
}

// An Owner is the agent and branch of a step. Steps are never applied to the
// history of another owner.
type Owner struct{ Agent, Branch string }

// Owner returns the owner of the step; a changed step has none.
func (s *Step) Owner() Owner {
	if s.Changed != nil {
		return Owner{"\x00", "\x00"}
	}
	return Owner{s.Agent, s.Branch}
}

// A Place is the place of a line in a session's folder.
type Place struct {
	File string
	Off  int64
}

// At returns the place of a message that the step edited or removed.
func (s *Step) At(e *Eviction) Place { return Place{cmp.Or(e.File, s.Archive), e.Off} }

// Evictions returns the messages that the step edited or removed, by place.
func (s *Step) Evictions() map[Place]*Eviction {
	at := make(map[Place]*Eviction, len(s.Evicted))
	for i := range s.Evicted {
		at[s.At(&s.Evicted[i])] = &s.Evicted[i]
	}
	return at
}

// Trail returns the step for a replay.
func (s *Step) Trail() reduce.TrailStep {
	return reduce.TrailStep{In: s.In, Out: s.Out, Recipes: s.Recipes, Forms: s.Forms}
}

// Cuts reports whether the step removed messages.
func (s *Step) Cuts() bool {
	return slices.ContainsFunc(s.Recipes, func(r reduce.Recipe) bool { return r.Removes() })
}

// CountEdits returns the number of edits of the step.
func (s *Step) CountEdits() int {
	n := 0
	for i := range s.Recipes {
		n += len(s.Recipes[i].Texts)
		if s.Recipes[i].Removes() {
			n++
		}
	}
	return n
}

// Proves reports whether a line has the recorded hash.
func (e *Eviction) Proves(line []byte) bool {
	sum := sha256.Sum256(line)
	return e.SHA256 == hex.EncodeToString(sum[:])
}

// Differs returns the error for a line with another hash.
func (e *Eviction) Differs(file string, line []byte) *storage.ChangedError {
	sum := sha256.Sum256(line)
	return &storage.ChangedError{File: file, Want: e.SHA256, Have: hex.EncodeToString(sum[:]), Detail: "the line of message " + e.FP.String()[:12] + " differs"}
}
