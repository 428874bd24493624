package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
)

// recalling holds the arguments of recall, which prints a removed text or searches
// the removed texts.
type recalling struct {
	*app
	head, tail, around int
	span, pattern      string
}

func newArchiveRecall(a *app) *cobra.Command {
	r := &recalling{app: a}
	cmd := &cobra.Command{
		Use:   "recall SESSION [REF]",
		Short: "Print the text behind a placeholder, or search the removed text",
		Long:  aboutArchiveRecall,
		Args:  arguments(cobra.RangeArgs(1, 2)),
		RunE:  r.run,
	}
	f := cmd.Flags()
	f.IntVar(&r.head, "head", 0, "print the first `N` lines")
	f.IntVar(&r.tail, "tail", 0, "print the last `N` lines")
	f.StringVar(&r.span, "lines", "", "print the lines `FROM-TO`, counted from 1")
	f.StringVar(&r.pattern, "grep", "", "print the lines that match the regular expression `RE`")
	f.IntVarP(&r.around, "context", "C", 0, "with --grep: also print `N` lines around each match")
	return cmd
}

func (r *recalling) run(cmd *cobra.Command, args []string) error {
	opts, err := recallOptions(cmd, r.head, r.tail, r.around, r.span, r.pattern)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		err = searchable(r.pattern)
	}
	if err != nil {
		return err
	}
	archive, err := r.readArchive(cmd)
	if err != nil {
		return err
	}
	args[0] = r.called(cmd.Context(), archive, args[0])
	if s, none := openSession(cmd.Context(), archive, args[0]); none == nil {
		op, what := "search", r.pattern
		if len(args) == 2 {
			op, what = "recall", args[1]
		}
		if err := r.accessed(cmd, s, op, what); err != nil {
			return err
		}
	}
	if len(args) == 1 {
		return r.search(cmd, archive, args[0], r.pattern, r.around)
	}
	text, err := recall.Text(cmd.Context(), archive, args[0], args[1], opts...)
	if errors.Is(err, recall.ErrNotFound) {
		if _, none := openSession(cmd.Context(), archive, args[0]); none != nil {
			return none
		}
	}
	if err != nil {
		return err
	}
	return r.printText(text)
}

func (a *app) printText(text string) error {
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if isTerminal(a.out) { // the output of a tool must not control the terminal
		text = printable(text)
	}
	_, err := a.out.Write([]byte(text))
	return err
}

const aboutArchiveRecall = `Recall prints the text that a placeholder such as "recall 3f9a2c1b77de" stands for. The
text is redacted, as it is in the archive. REF is one of:

  3f9a2c1b77de         a reference in a placeholder, or a fingerprint's start
  s12, s12-s20         messages as a summary cites them
  turn:17              a whole turn
  turn:17:observation  one part of it (request, reasoning, action, observation)

Without REF, --grep searches all text that was removed from the session. A pattern
without capitals ignores case. Matches in messages come before matches in tool results,
the newest first. Each match names the REF of its whole text. -C N adds the N lines
around each match.`

// searchable returns an error if there is neither a REF nor a pattern. recallOptions has
// compiled the pattern before.
func searchable(pattern string) error {
	if pattern == "" {
		return &usageError{errors.New("name a REF, or add --grep RE to search all removed text")}
	}
	return nil
}

// search prints the matching lines in the removed texts of a session.
func (a *app) search(cmd *cobra.Command, archive storage.Archive, session, pattern string, near int) error {
	re, err := recall.SearchPattern(pattern)
	if err != nil {
		return err
	}
	if _, err := openSession(cmd.Context(), archive, session); err != nil {
		return err
	}
	found, err := recall.Search(cmd.Context(), archive, session, re, 0, recall.Around(near))
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(found)
	}
	shown := a.matches(found.Matches)
	switch {
	case found.Lines == 0:
		a.complain("compactctl", "no line of the removed text matches")
	case found.Lines > shown+found.Same:
		a.complain("compactctl", fmt.Sprintf("%s of %s matching lines; a narrower pattern shows the others", count(shown), count(found.Lines)))
	case found.Same > 0:
		a.complain("compactctl", fmt.Sprintf("%s more lines match, each the same as one of these", count(found.Same)))
	}
	if found.Changed > 0 {
		a.complain("compactctl", fmt.Sprintf("%s messages were not searched: the archive was changed; compactctl archive verify names the place", count(found.Changed)))
	}
	if found.Cut {
		a.complain("compactctl", "the oldest messages were not searched: they are more than 64 MiB, or the pattern takes too long")
	}
	return nil
}

// matches prints lines, and returns how many of them match.
func (a *app) matches(lines []recall.Match) (matching int) {
	for i, m := range lines {
		switch {
		case i == 0 || m.Ref != lines[i-1].Ref:
			fmt.Fprintf(a.out, "%s\n", a.style.bold(heading(m)))
		case m.Line != lines[i-1].Line+1 && (m.Near || lines[i-1].Near):
			fmt.Fprintln(a.out, "    --")
		}
		sep := "-"
		if !m.Near {
			sep = " "
			matching++
		}
		fmt.Fprintf(a.out, "%6d%s %s\n", m.Line, sep, printable(m.Text))
	}
	return matching
}

// heading names the message that the lines below it are from, and the REF of its text.
func heading(m recall.Match) string {
	what := string(m.Role)
	if m.Tool != "" {
		what += " " + printable(m.Tool)
	}
	if m.Turn > 0 {
		what += fmt.Sprintf(", turn %d", m.Turn)
	}
	if m.Number > 0 {
		what = fmt.Sprintf("s%d %s", m.Number, what)
	}
	return what + ", recall " + m.Ref
}

// recallOptions returns the options for the part of a text that the flags select.
func recallOptions(cmd *cobra.Command, head, tail, around int, span, pattern string) ([]recall.Option, error) {
	var given []string
	for _, name := range []string{"head", "tail", "lines", "grep"} {
		if cmd.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	switch {
	case len(given) > 1:
		return nil, &usageError{fmt.Errorf("%s can't go together", strings.Join(given, " and "))}
	case cmd.Flags().Changed("context") && pattern == "":
		return nil, &usageError{errors.New("--context goes with --grep")}
	case min(head, tail, around) < 0:
		return nil, &usageError{errors.New("a number of lines can't be negative")}
	case cmd.Flags().Changed("head"):
		return []recall.Option{recall.Head(head)}, nil
	case cmd.Flags().Changed("tail"):
		return []recall.Option{recall.Tail(tail)}, nil
	case span != "":
		from, to, ok := strings.Cut(span, "-")
		first, err1 := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if !ok || err1 != nil || err2 != nil || first < 1 || last < first {
			return nil, &usageError{fmt.Errorf("--lines %q is not FROM-TO, such as 10-20", span)}
		}
		return []recall.Option{recall.Lines(first, last)}, nil
	case pattern != "":
		re, err := regexp.Compile(pattern)
		if err != nil {
			return nil, &usageError{fmt.Errorf("--grep: %w", err)}
		}
		return []recall.Option{recall.Matching(re, around)}, nil
	}
	return nil, nil
}
