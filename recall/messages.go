package recall

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// A Stored is an archived message, redacted.
type Stored struct {
	Message message.Message
	Refs    []string  // references of its parts, for [Session.Text]; "" or fewer than parts if there are none
	File    string    // the file that holds it, in the session's folder; if the transcript refers to an older file, the older file
	Line    int       // line number in the file, from 1
	At      time.Time // when the file was archived, or the transcript that refers to a log; zero if unknown
	Turn    int       // 0 = not known
	Step    int       // the step that archived the message; 0 = none
	Agent   string    // agent of the step
	Model   string    // model of the step
}

// Messages yields the messages of a session, file by file: the transcripts and originals
// of its steps in order, the final transcripts, the originals archived between steps, and
// the journal. It yields a message once for each file that holds it. It only reads. For a
// file that was changed since it was stored it yields [storage.ErrChanged], and continues
// with the next file; any other error is yielded last. A Message is valid until the next
// iteration.
func Messages(ctx context.Context, s *record.Session) iter.Seq2[Stored, error] {
	return func(yield func(Stored, error) bool) {
		r := &storedReader{ctx: ctx, s: s, yield: yield, steps: map[string]ledger.Step{}, turns: map[ledger.Place]int{}}
		for _, do := range []func() error{r.ledgers, r.times, r.list, r.transcripts, r.logs} {
			if err := do(); err != nil || r.stopped {
				if !r.stopped {
					yield(Stored{}, err)
				}
				return
			}
		}
	}
}

// Logs that hold messages.
const (
	editsFile   = "edits.jsonl"
	journalFile = "journal.jsonl"
)

// storedReader iterates over the files of a session.
type storedReader struct {
	ctx     context.Context
	s       *record.Session
	yield   func(Stored, error) bool
	stopped bool

	files []string               // files with messages, in order
	steps map[string]ledger.Step // by archive file; the first step if there are several
	turns map[ledger.Place]int
	at    map[string]time.Time
	grown map[string]time.Time // existing logs, with their times
}

// give yields a message or an error, and reports whether to continue.
func (r *storedReader) give(m Stored, err error) bool {
	r.stopped = r.stopped || !r.yield(m, err)
	return !r.stopped
}

func (r *storedReader) ledgers() error {
	for l, err := range r.s.Ledgers(r.ctx, 1) {
		if err != nil {
			return err
		}
		if l.Changed != nil {
			if !r.give(Stored{}, l.Changed) {
				return nil
			}
			continue
		}
		step, err := ledger.Parse(l.Data)
		if err != nil {
			return err
		}
		if _, known := r.steps[step.Archive]; !known {
			r.steps[step.Archive] = step
		}
	}
	return nil
}

func (r *storedReader) times() (err error) {
	r.at, err = r.s.StoredAt(r.ctx)
	return err
}

// list finds the files with messages, and reads the turn numbers in indexes.
func (r *storedReader) list() error {
	r.grown = map[string]time.Time{}
	for info, err := range r.s.Files(r.ctx) {
		if err != nil {
			return err
		}
		switch name := info.Key.Base(); {
		case info.Foreign != "":
		case strings.HasPrefix(name, "transcript-"), strings.HasPrefix(name, "originals-"):
			r.files = append(r.files, name)
		case strings.HasPrefix(name, "turns-"):
			r.index(name)
		case name == editsFile || name == journalFile:
			r.grown[name] = info.Modified
		}
	}
	slices.SortStableFunc(r.files, func(x, y string) int {
		a, n := fileRank(x)
		b, m := fileRank(y)
		return cmp.Or(a-b, n-m, len(x)-len(y), strings.Compare(x, y))
	})
	return nil
}

// fileRank returns the sort key of a file: files of steps by number, before
// final transcripts.
func fileRank(name string) (rank, number int) {
	if strings.HasPrefix(name, "transcript-final-") {
		rank = 1
	}
	digits, _, _ := strings.Cut(name[strings.LastIndexByte(name, '-')+1:], ".")
	number, _ = strconv.Atoi(digits) // a name without a number comes first
	return rank, number
}

// index reads turn numbers. Facts in a damaged index stay unknown.
func (r *storedReader) index(name string) {
	table, err := r.s.OpenIndex(r.ctx, name)
	if err != nil {
		return
	}
	for rec, err := range table.All(r.ctx) {
		if err != nil {
			return
		}
		if n, ok := strings.CutPrefix(rec.Key.String(), "turn:"); ok {
			if turn, err := strconv.Atoi(n); err == nil {
				r.turns[ledger.Place{File: rec.File, Off: rec.Off}] = turn
			}
		}
	}
}

func (r *storedReader) transcripts() error {
	for _, name := range r.files {
		if err := r.transcript(name); err != nil || r.stopped {
			return err
		}
	}
	return nil
}

// transcript yields the messages of an unchanged file.
func (r *storedReader) transcript(name string) error {
	_, err := r.s.LineSums(r.ctx, name)
	if errors.Is(err, storage.ErrChanged) {
		r.give(Stored{}, err)
		return nil
	}
	if err != nil {
		return err
	}
	step := r.steps[name]
	for l, err := range r.s.Whole(r.ctx, name) {
		if errors.Is(err, storage.ErrChanged) {
			r.give(Stored{}, err) // the changed file that it refers to
			return nil
		}
		if err != nil {
			return err
		}
		at, ok := r.at[l.File]
		if !ok {
			at = r.at[name] // of the step that refers to an original in a log
		}
		m := Stored{File: l.File, Line: l.Number, At: at, Turn: r.turns[ledger.Place{File: l.File, Off: l.Off}], Step: step.Step, Agent: step.Agent, Model: step.Model}
		if !r.line(l.Text, m) {
			return nil
		}
	}
	return nil
}

// line yields the message in a line, and skips a line without one.
func (r *storedReader) line(line []byte, m Stored) bool {
	a, err := ledger.ParseLine(line)
	if err != nil {
		return true
	}
	m.Message, m.Refs = a.Message, a.Refs
	return r.give(m, nil)
}

// logs yields the originals archived between steps, and the journal.
func (r *storedReader) logs() error {
	number := 0
	for l, err := range r.s.EditsLines(r.ctx, 0) {
		if err != nil {
			return err
		}
		number++
		if l.Changed {
			if !r.give(Stored{}, &storage.ChangedError{File: editsFile, Detail: "line " + strconv.Itoa(number) + " differs"}) {
				return nil
			}
			continue
		}
		line, _, ok := l.Original()
		if ok && !r.line(line, Stored{File: editsFile, Line: number, At: r.grown[editsFile]}) {
			return nil
		}
	}
	number = 0
	for line, err := range r.s.JournalLines(r.ctx) {
		if err != nil {
			return err
		}
		if number++; !r.line(line, Stored{File: journalFile, Line: number, At: r.grown[journalFile]}) {
			return nil
		}
	}
	return nil
}

// Text returns the text of a part in the form of [Session.Text]: for a call, its tool and
// arguments.
func (m *Stored) Text(part int) string { return ledger.PartText(m.Message.Parts[part]) }
