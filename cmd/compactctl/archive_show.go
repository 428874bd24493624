package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
)

func newArchiveShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show SESSION [FILE]",
		Short: "Show the compactions and files of a session, or one file",
		Args:  arguments(cobra.RangeArgs(1, 2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.archived(cmd, args[0])
			if err != nil {
				return err
			}
			if len(args) == 2 {
				return a.cat(cmd.Context(), s, args[1])
			}
			v, err := sheetOf(cmd.Context(), args[0], s)
			switch {
			case err != nil:
				return &brokenArchive{err}
			case a.json:
				return a.printJSON(v)
			}
			return a.printSheet(v)
		},
	}
}

// cat writes one file as it is.
func (a *app) cat(ctx context.Context, s *storage.Session, name string) error {
	r, err := s.Open(ctx, name, 0, -1)
	if bad := new(storage.KeyError); errors.Is(err, storage.ErrNotExist) || errors.As(err, &bad) {
		return fmt.Errorf("the session has no file %q", name)
	}
	if err != nil {
		return &brokenArchive{err}
	}
	defer r.Close()
	_, err = io.Copy(a.out, r)
	return err
}

// sheet is what show tells of a session.
type sheet struct {
	Session  string      `json:"session"`
	Location string      `json:"location"`
	Head     string      `json:"manifest_head"`
	Held     string      `json:"held,omitempty"` // why it is under a legal hold
	Steps    []stepRow   `json:"steps"`
	Files    []storedRow `json:"files"`
}

// stepRow is a compaction, as its ledger tells.
type stepRow struct {
	Step   int    `json:"step"`
	Kind   string `json:"kind"`
	Agent  string `json:"agent,omitempty"`
	Model  string `json:"model"`
	Before int    `json:"tokens_before"`
	After  int    `json:"tokens_after"`
	Note   string `json:"note,omitempty"`

	Archive string `json:"archive,omitempty"` // the file that holds what was taken out
}

// elsewhere returns the file of a step that is archived under another number:
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

func sheetOf(ctx context.Context, name string, s *storage.Session) (*sheet, error) {
	v := &sheet{Session: name, Location: s.Location(), Head: s.ManifestHead(), Steps: []stepRow{}, Files: []storedRow{}}
	held, reason, err := s.Held(ctx)
	if err != nil {
		return nil, err
	}
	if held {
		v.Held = "held: " + reason
	}
	for l, err := range s.Ledgers(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if l.Changed != nil {
			v.Steps = append(v.Steps, stepRow{Step: l.Step, Kind: "changed", Note: l.Changed.Error()})
			continue
		}
		var row stepRow
		if err := json.Unmarshal(l.Data, &row); err != nil {
			return nil, fmt.Errorf("ledger of step %d: %w", l.Step, err)
		}
		v.Steps = append(v.Steps, row)
	}
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

func (a *app) printSheet(v *sheet) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", a.style.bold("session "+oneLine(v.Session)), printable(v.Location))
	if v.Head != "" {
		fmt.Fprintf(&b, "manifest head %s\n", v.Head)
	}
	if v.Held != "" {
		fmt.Fprintln(&b, a.style.yellow(oneLine(v.Held)))
	}
	if len(v.Steps) > 0 {
		fmt.Fprintf(&b, "\n%s\n", a.style.dim("step  kind           before     after  model"))
	}
	for _, s := range v.Steps {
		line := fmt.Sprintf("%4d  %-9s  %10s%10s  %s", s.Step, oneLine(s.Kind), count(s.Before), count(s.After), oneLine(s.Model))
		for _, more := range []string{s.Agent, s.Note, s.elsewhere()} {
			if more != "" {
				line += " · " + oneLine(more)
			}
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	fmt.Fprintf(&b, "\n%s\n", a.style.dim("     size  last written      file"))
	for _, f := range v.Files {
		fmt.Fprintf(&b, "%9s  %s  %s\n", bytesOf(f.Bytes), f.Modified.Format(timeLayout), printable(f.Name))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}
