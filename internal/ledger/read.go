package ledger

import (
	"encoding/json"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/record"
)

// A Reader parses ledgers and lines of edits.jsonl without reflection, because
// the first call of a process may have to read thousands of records. Input in
// another form is parsed by encoding/json, so an unknown field makes it slower,
// not wrong; see TestLedgerReaderKnowsEveryField.
type Reader struct{ r *jsonscan.Record }

// NewReader returns a reader, which is not safe for concurrent use.
func NewReader() *Reader { return &Reader{jsonscan.NewRecord(nil)} }

// Ledger parses a step of a supported version.
func (l *Reader) Ledger(data []byte) (step Step, err error) {
	if err := l.step(data, &step); err != nil {
		return step, err
	}
	if step.V < 1 || step.V > Version {
		return step, fmt.Errorf("version %d of the ledger is not known (this program knows %d)", step.V, Version)
	}
	return step, nil
}

// Stored parses a ledger from the archive. For a changed ledger it returns a step that
// has only its number.
func (l *Reader) Stored(from record.Ledger) (Step, error) {
	if from.Changed != nil {
		return Step{Step: from.Step, Changed: from.Changed}, nil
	}
	step, err := l.Ledger(from.Data)
	if err != nil {
		return step, fmt.Errorf("ledger of step %d: %w", from.Step, err)
	}
	step.Step = from.Step
	return step, nil
}

// Parse parses the content of one ledger.
func Parse(data []byte) (Step, error) { return NewReader().Ledger(data) }

// step parses a step of any version.
func (l *Reader) step(data []byte, to *Step) error {
	if l.parsesFast(data, func(r *jsonscan.Record) { readStep(r, to) }) {
		return nil
	}
	*to = Step{}
	return json.Unmarshal(data, to)
}

// Edit parses a line of edits.jsonl.
func (l *Reader) Edit(data []byte, to *Edit) error {
	if l.parsesFast(data, func(r *jsonscan.Record) { readEdit(r, to) }) {
		return nil
	}
	*to = Edit{}
	return json.Unmarshal(data, to)
}

// parsesFast reports whether read could parse all of the data.
func (l *Reader) parsesFast(data []byte, read func(*jsonscan.Record)) bool {
	l.r.Reset(data)
	read(l.r)
	return l.r.Done()
}

func readEdit(r *jsonscan.Record, to *Edit) {
	r.Object(func(r *jsonscan.Record) {
		if r.Key("edit") {
			readStep(r, &to.Edit)
		}
	})
}

func readStep(r *jsonscan.Record, to *Step) {
	r.Object(func(r *jsonscan.Record) {
		r.Int("v", &to.V)
		r.Word("key", &to.Key)
		r.Int("step", &to.Step)
		r.Word("session", &to.Session)
		r.Word("agent", &to.Agent)
		r.Word("branch", &to.Branch)
		r.Word("kind", &to.Kind)
		r.String("note", &to.Note)
		r.Word("model", &to.Model)
		r.Int("window", &to.Window)
		r.Word("preset", &to.Preset)
		r.Word("strategy", &to.Strategy)
		readLink(r, "in", &to.In)
		readLink(r, "out", &to.Out)
		r.Int("tokens_before", &to.Before)
		r.Int("tokens_after", &to.After)
		r.Int("upper_bound", &to.Bound)
		r.JSON("calibration", &to.Calibration)
		readKeep(r, &to.Keep)
		r.JSON("forms", &to.Forms)
		jsonscan.List(r, "recipes", &to.Recipes, readRecipe)
		r.String("archive", &to.Archive)
		jsonscan.List(r, "evicted", &to.Evicted, readEviction)
		r.JSON("index", &to.Index)
		r.JSON("turns", &to.Turns)
		r.String("try", &to.Try)
		r.Int("numbers", &to.Numbers)
		r.Int64("edits", &to.Edits)
	})
}

func readLink(r *jsonscan.Record, name string, to *reduce.Link) {
	if r.Key(name) {
		r.Object(func(r *jsonscan.Record) {
			r.Int("n", &to.N)
			r.Text("hash", &to.Hash)
		})
	}
}

func readKeep(r *jsonscan.Record, to *policy.Keep) {
	if r.Key("keep") {
		r.Object(func(r *jsonscan.Record) {
			r.Int("turns", &to.Turns)
			r.Int("pairs", &to.Pairs)
		})
	}
}

func readRecipe(r *jsonscan.Record, to *reduce.Recipe) {
	r.Object(func(r *jsonscan.Record) {
		r.Word("stage", &to.Stage)
		jsonscan.List(r, "texts", &to.Texts, readText)
		if r.Key("cut") {
			to.Cut = new(reduce.CutRecipe)
			readCut(r, to.Cut)
		}
		r.JSON("copies", &to.Copies)
	})
}

func readCut(r *jsonscan.Record, to *reduce.CutRecipe) {
	r.Object(func(r *jsonscan.Record) {
		r.JSON("removed", &to.Removed)
		r.Int("recent", &to.Recent)
		r.Int("pins", &to.Pins)
		r.Word("decision", &to.Decision)
		r.Word("reason", &to.Reason)
		if r.Key("summary") {
			to.Summary = new(policy.SummaryInfo)
			readSummary(r, to.Summary)
		}
		r.String("summary_in", &to.SummaryIn)
		r.Int("notice", &to.Notice)
		r.True("behind", &to.Behind)
		r.True("first", &to.First)
		r.JSON("anchor", &to.Anchor)
	})
}

// readSummary parses a summary in a ledger or in its own file.
func readSummary(r *jsonscan.Record, to *policy.SummaryInfo) {
	r.Object(func(r *jsonscan.Record) {
		var format, step int
		r.Int("v", &format)
		r.Int("step", &step)
		r.Int("version", &to.Version)
		r.Word("strategy", &to.Strategy)
		r.Word("backend", &to.Backend)
		r.Word("model", &to.Model)
		r.String("text", &to.Text)
		r.Int("tokens", &to.Tokens)
		r.Int("first_message", &to.First)
		r.Int("input_messages", &to.Input)
		r.Int("input_tokens", &to.InputSize)
		r.Int("calls", &to.Calls)
		r.Int("attempts", &to.Attempts)
		r.Word("fallback", &to.Fallback)
		r.JSON("entity_retention", &to.Retention)
		r.Int("identifiers", &to.Named)
		r.Int("invented_removed", &to.Invented)
		r.Int("references_added", &to.Added)
		r.JSON("errors", &to.Errors)
	})
}

func readText(r *jsonscan.Record, to *reduce.TextRecipe) {
	r.Object(func(r *jsonscan.Record) {
		r.Int("at", &to.At)
		r.Int("part", &to.Part)
		r.Text("was", &to.Was)
		r.Text("is", &to.Is)
		r.Word("decision", &to.Decision)
		r.Word("reason", &to.Reason)
		jsonscan.List(r, "segments", &to.Segments, readSegment)
	})
}

func readSegment(r *jsonscan.Record, to *policy.Segment) {
	r.Object(func(r *jsonscan.Record) {
		r.Int("from", &to.From)
		r.Int("to", &to.To)
		if r.Key("mark") {
			to.Mark = new(policy.Mark)
			readMark(r, to.Mark)
		}
		r.String("lit", &to.Lit)
	})
}

func readMark(r *jsonscan.Record, to *policy.Mark) {
	r.Object(func(r *jsonscan.Record) {
		r.Word("form", &to.Form)
		r.Int("chars", &to.Chars)
		r.Int("tokens", &to.Tokens)
		r.Int("kept", &to.Kept)
		r.Int("turn", &to.Turn)
		r.String("ref", &to.Ref)
		r.True("ended", &to.Ended)
		r.Int("exit", &to.Exit)
		r.Int("says_from", &to.SaysFrom)
		r.Int("says_to", &to.SaysTo)
		r.Word("what", &to.What)
	})
}

func readEviction(r *jsonscan.Record, to *Eviction) {
	r.Object(func(r *jsonscan.Record) {
		r.Text("fp", &to.FP)
		r.Word("file", &to.File)
		r.Int64("off", &to.Off)
		r.Int64("len", &to.Len)
		r.String("sha256", &to.SHA256)
		r.Word("is", &to.Is)
		r.Uint32("turn", &to.Turn)
		r.Uint32("n", &to.Number)
	})
}
