package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/replay"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// showing holds the flags and arguments of show.
type showing struct {
	turn, summary int
	page          string
	raw           bool
}

const aboutArchiveShow = `Show prints one session: its compactions, its files, and its newest transcript. The
transcript has one line for each message, with the [s12] by which summaries cite it.
--turn prints a whole turn, --summary the summary of a step, FILE one file. --html writes
the transcript as a page that needs no network.

Show prints characters that could move the cursor of a terminal or change its colors as
codes. Where a transcript refers to lines of another file, show inserts these lines.
--raw prints FILE byte for byte.`

func newArchiveShow(a *app) *cobra.Command {
	q := &showing{}
	cmd := &cobra.Command{
		Use:   "show SESSION [FILE]",
		Short: "Show a session: its transcript, compactions and files",
		Long:  aboutArchiveShow,
		Args:  arguments(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.check(cmd, args); err != nil {
				return err
			}
			archive, err := a.readArchive(cmd)
			if err != nil {
				return err
			}
			name := a.called(cmd.Context(), archive, args[0])
			s, err := openToRead(cmd.Context(), archive, name)
			if err != nil {
				return err
			}
			if err := a.accessed(cmd, s, "show", q.what(args)); err != nil {
				return err
			}
			switch {
			case len(args) == 2:
				return a.cat(cmd.Context(), s, args[1], q.raw)
			case q.turn > 0:
				return a.showTurn(cmd.Context(), archive, name, q.turn)
			case q.summary > 0:
				return a.showSummary(cmd.Context(), s, q.summary)
			}
			return a.showSession(cmd.Context(), args[0], s, q.page)
		},
	}
	f := cmd.Flags()
	f.IntVar(&q.turn, "turn", 0, "print the whole turn `N`")
	f.IntVar(&q.summary, "summary", 0, "print the summary of step `N`")
	f.StringVar(&q.page, "html", "", "write the transcript as a page to `FILE`")
	f.BoolVar(&q.raw, "raw", false, "print FILE byte for byte, including control characters")
	return cmd
}

// what describes the read texts for the access record.
func (q *showing) what(args []string) string {
	switch {
	case len(args) == 2:
		return args[1]
	case q.turn > 0:
		return fmt.Sprintf("turn:%d", q.turn)
	case q.summary > 0:
		return fmt.Sprintf("summary:%d", q.summary)
	}
	return ""
}

func (q *showing) check(cmd *cobra.Command, args []string) error {
	given := 0
	for _, name := range []string{"turn", "summary", "html"} {
		if cmd.Flags().Changed(name) {
			given++
		}
	}
	switch {
	case given > 1 || given == 1 && len(args) == 2:
		return &usageError{errors.New("FILE, --turn, --summary and --html don't go together")}
	case q.raw && len(args) < 2:
		return &usageError{errors.New("--raw goes with a FILE")}
	case cmd.Flags().Changed("turn") && q.turn < 1, cmd.Flags().Changed("summary") && q.summary < 1:
		return &usageError{errors.New("turns and steps are counted from 1")}
	}
	return nil
}

// showSession prints the summary of a session, or writes its HTML page.
func (a *app) showSession(ctx context.Context, name string, s *record.Session, page string) error {
	to, err := a.openOutput(page)
	if err != nil {
		return err
	}
	defer to.discard()
	v, err := sheetOf(ctx, name, s)
	if err != nil {
		return &brokenArchive{err}
	}
	if a.json && to == nil {
		return a.printJSON(v)
	}
	said, err := conversationOf(ctx, name, s)
	if err != nil {
		return &brokenArchive{err}
	}
	if to != nil {
		var b bytes.Buffer
		if err := showPage().Execute(&b, said.cleaned()); err != nil {
			return err
		}
		return to.commit(b.Bytes())
	}
	if err := a.printSheet(v); err != nil {
		return err
	}
	return a.printConversation(said)
}

// cat writes one file: verbatim, or without the control characters that a terminal would
// execute.
func (a *app) cat(ctx context.Context, s *record.Session, name string, raw bool) error {
	if !raw && record.HasMessages(name) {
		return a.catWhole(ctx, s, name)
	}
	r, err := s.Open(ctx, name, 0, -1)
	if bad := new(storage.KeyError); errors.Is(err, storage.ErrNotExist) || errors.As(err, &bad) {
		return fmt.Errorf("the session has no file %q", name)
	}
	if err != nil {
		return &brokenArchive{err}
	}
	defer r.Close()
	if raw {
		_, err = io.Copy(a.out, r)
		return err
	}
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if _, werr := io.WriteString(a.out, printable(line)); werr != nil {
			return werr
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return &brokenArchive{err}
		}
	}
}

// catWhole writes a transcript, with its references resolved.
func (a *app) catWhole(ctx context.Context, s *record.Session, name string) error {
	for line, err := range s.Lines(ctx, name) {
		if errors.Is(err, storage.ErrNotExist) {
			return fmt.Errorf("the session has no file %q", name)
		}
		if err != nil {
			return &brokenArchive{err}
		}
		if _, err := fmt.Fprintln(a.out, printable(string(line))); err != nil {
			return err
		}
	}
	return nil
}

// sheet holds the data that show prints about a session.
type sheet struct {
	Session  string `json:"session"`
	Location string `json:"location"`
	Head     string `json:"manifest_head"`
	Held     string `json:"held,omitempty"` // since when, by whom and why
	// Acts are the holds, releases and scrubs, and an erasure that has begun.
	Acts  []record.Act `json:"acts,omitempty"`
	Bill  sheetBill    `json:"bill"`
	Steps []stepRow    `json:"steps"`
	Files []storedRow  `json:"files"`
}

// stepRow describes a compaction by its ledger.
type stepRow struct {
	Step   int    `json:"step"`
	Kind   string `json:"kind"`
	Agent  string `json:"agent,omitempty"`
	Model  string `json:"model"`
	Before int    `json:"tokens_before"`
	After  int    `json:"tokens_after"`
	Note   string `json:"note,omitempty"`

	At      time.Time         `json:"at,omitzero"`
	Archive string            `json:"archive,omitempty"` // the file that holds the removed messages
	Evicted []json.RawMessage `json:"evicted,omitempty"` // replaced by Messages
	// Messages is the number of messages that the step changed or removed.
	Messages int `json:"messages,omitempty"`
}

// elsewhere returns the file of a step that is archived under another number, because
// several agents compacted at once.
func (s *stepRow) elsewhere() string {
	for _, kind := range []string{"transcript-pre-compact", "originals"} {
		if strings.HasPrefix(s.Archive, fmt.Sprintf("%s-%03d.", kind, s.Step)) {
			return ""
		}
	}
	return s.Archive
}

type storedRow struct {
	Name     string    `json:"name"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

func sheetOf(ctx context.Context, name string, s *record.Session) (*sheet, error) {
	v := &sheet{Session: name, Location: s.Location(), Head: s.ManifestHead(), Steps: []stepRow{}, Files: []storedRow{}}
	hold, err := s.Held(ctx)
	if err != nil {
		return nil, err
	}
	if hold.Held {
		v.Held = heldAs(hold).text()
	}
	if err := v.addSteps(ctx, s); err != nil {
		return nil, err
	}
	v.Bill.SessionBill, v.Bill.err = replay.ReadBill(ctx, s, price.Card{})
	for info, err := range s.Files(ctx) {
		if err != nil {
			return nil, err
		}
		name := info.Key.Base()
		if info.Foreign != "" {
			name = info.Foreign
		}
		v.Files = append(v.Files, storedRow{name, info.Size, info.Modified})
	}
	return v, nil
}

// addSteps adds the compactions of a session, and the other operations on it.
func (v *sheet) addSteps(ctx context.Context, s *record.Session) error {
	acts, err := s.Acts(ctx)
	if err != nil {
		return err
	}
	at := map[int]time.Time{} // of each step
	for _, act := range acts {
		if act.Step > 0 {
			at[act.Step] = act.At
		} else {
			v.Acts = append(v.Acts, act)
		}
	}
	for l, err := range s.Ledgers(ctx, 1) {
		if err != nil {
			return err
		}
		if l.Changed != nil {
			v.Steps = append(v.Steps, stepRow{Step: l.Step, At: at[l.Step], Kind: "changed", Note: l.Changed.Error()})
			continue
		}
		var row stepRow
		if err := json.Unmarshal(l.Data, &row); err != nil {
			return fmt.Errorf("ledger of step %d: %w", l.Step, err)
		}
		row.At, row.Messages, row.Evicted = at[l.Step], len(row.Evicted), nil
		v.Steps = append(v.Steps, row)
	}
	return nil
}

func (a *app) printSheet(v *sheet) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", a.style.bold("session "+sessionName(v.Session)), printable(v.Location))
	if v.Head != "" {
		fmt.Fprintf(&b, "manifest head %s\n", v.Head)
	}
	if v.Held != "" {
		fmt.Fprintln(&b, a.style.yellow(oneLine(v.Held)))
	}
	for _, act := range v.Acts {
		fmt.Fprintf(&b, "%s  %s%s\n", stamp(act.At), acted[act.Op], byWhom(act.Who, act.Why))
	}
	b.WriteString(v.Bill.String())
	a.printSteps(&b, v.Steps)
	fmt.Fprintf(&b, "\n%s\n", a.style.dim("     size  last written          file"))
	for _, f := range v.Files {
		fmt.Fprintf(&b, "%9s  %s  %s\n", bytesOf(f.Bytes), stamp(f.Modified), printable(f.Name))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// acted describes the operations on a session.
var acted = map[string]string{"hold": "legal hold", "release": "legal hold ended", "scrub": "scrubbed", "erase": "erase begun"}

// byWhom returns who asked for an operation, and why, if that is known.
func byWhom(who, why string) (s string) {
	if who != "" {
		s = " by " + oneLine(who)
	}
	if why != "" {
		s += " · " + oneLine(why)
	}
	return s
}

// printSteps writes a line for each compaction, with a column for agents if there are
// several.
func (a *app) printSteps(b *strings.Builder, steps []stepRow) {
	if len(steps) == 0 {
		return
	}
	agent, width := func(string) string { return "" }, len("agent")
	if slices.ContainsFunc(steps, func(s stepRow) bool { return s.Agent != steps[0].Agent }) {
		for i := range steps {
			width = max(width, columnsOf(oneLine(steps[i].Agent)))
		}
		agent = func(name string) string { return left(oneLine(name), width) + "  " }
	}
	fmt.Fprintf(b, "\n%s\n", a.style.dim("step  "+agent("agent")+"committed             kind         before     after  messages  model"))
	for i := range steps {
		s := &steps[i]
		line := fmt.Sprintf("%4d  %s%-20s  %-9s  %8s  %8s  %8s  %s", s.Step, agent(s.Agent), stamp(s.At), oneLine(s.Kind), count(s.Before), count(s.After), count(s.Messages), oneLine(s.Model))
		more := []string{s.Note, s.elsewhere()}
		if agent("") == "" {
			more = append([]string{s.Agent}, more...)
		}
		for _, m := range more {
			if m != "" {
				line += " · " + oneLine(m)
			}
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
}
