package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// listed is a row of ls: a session.
type listed struct {
	Session  string    `json:"session"` // id, or folder if the id was too long for a folder name
	Folder   string    `json:"folder"`
	Steps    int       `json:"steps"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
	Erasing  bool      `json:"erasing,omitempty"` // an erase has begun, and is not complete
	Problem  string    `json:"problem,omitempty"` // why its manifest can't be read
	holdRow
}

// holdRow is a legal hold in the output. Its JSON has no member if there is no
// hold.
type holdRow struct {
	Held   bool       `json:"held,omitempty"`
	Since  *time.Time `json:"held_since,omitempty"`
	Who    string     `json:"held_by,omitempty"`
	Reason string     `json:"reason,omitempty"`
}

// heldAs returns the row of a legal hold.
func heldAs(h record.LegalHold) holdRow {
	r := holdRow{Held: h.Held, Who: h.Who, Reason: h.Reason}
	if h.Held {
		r.Since = &h.Since
	}
	return r
}

// text is "" without a hold, else "held since 2026-01-02 15:04 UTC by NAME · REASON".
func (r holdRow) text() string {
	if !r.Held {
		return ""
	}
	return "held since " + stamp(*r.Since) + byWhom(r.Who, r.Reason)
}

func newArchiveLs(a *app) *cobra.Command {
	var erased bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the sessions",
		Long:  aboutArchiveLs,
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if erased {
				return a.listErased(cmd)
			}
			return a.listSessions(cmd)
		},
	}
	cmd.Flags().BoolVar(&erased, "erased", false, "list erased sessions")
	return cmd
}

func (a *app) listSessions(cmd *cobra.Command) error {
	all, foreign := []listed{}, 0
	archive, err := a.readArchive(cmd)
	if err != nil && !errors.Is(err, errNoArchive) {
		return err
	}
	if err == nil {
		for s, err := range record.Sessions(cmd.Context(), archive) {
			if err != nil {
				return &brokenArchive{err}
			}
			if s.Foreign() {
				foreign++
				continue
			}
			name := s.ID
			if name == "" {
				name = s.Dir
			}
			one := listed{Session: name, Folder: s.Dir, Steps: s.Steps, Files: s.Files, Bytes: s.Bytes, Modified: s.Modified}
			if err := one.readManifest(cmd.Context(), archive); err != nil {
				one.Problem = err.Error()
			}
			if err := cmd.Context().Err(); err != nil {
				return &brokenArchive{err}
			}
			all = append(all, one)
		}
	}
	if foreign > 0 {
		a.complain("compactctl", fmt.Sprintf("warning: %s in the archive without any file of a session", things(foreign, "folder")))
	}
	if a.json {
		return a.printJSON(all)
	}
	if len(all) == 0 && !a.quiet {
		none := "There are no sessions"
		if err != nil {
			none += ": " + err.Error()
		}
		_, err := fmt.Fprintln(a.err, printable(none)+".")
		return err
	}
	return a.list(all)
}

const aboutArchiveLs = `Ls lists the sessions. For a session under a legal hold it prints since when, who
asked for the hold, and why. With --erased it lists the erased sessions: the time, the
hash of the session's name, who asked, the reason, and whether the erase was refused. The hash is that of the folder's name: printf %s ticket-4711 | sha256sum.`

// readManifest reads whether the session is under a legal hold, and whether an erase has begun.
func (l *listed) readManifest(ctx context.Context, archive storage.Archive) error {
	s, err := record.OpenDir(ctx, archive, l.Folder)
	if err != nil {
		return err
	}
	h, err := s.Held(ctx)
	l.holdRow, l.Erasing = heldAs(h), s.Erasing()
	return err
}

// listErased writes one row for each tombstone.
func (a *app) listErased(cmd *cobra.Command) error {
	archive, err := a.readArchive(cmd)
	if err != nil {
		return err
	}
	all := []record.Tombstone{}
	for t, err := range record.Tombstones(cmd.Context(), archive) {
		if err != nil {
			return &brokenArchive{err}
		}
		all = append(all, t)
	}
	if a.json {
		return a.printJSON(all)
	}
	var b strings.Builder
	for _, t := range all {
		what := "begun"
		switch {
		case t.Refused != "":
			what = "refused: " + t.Refused + ", requested"
		case t.Damaged:
			what = "a damaged line"
		case t.Done:
			what = "erased"
		}
		fmt.Fprintf(&b, "%s  %s  %4d files  %9s  %s%s\n", stamp(t.At), t.Session, t.Files, bytesOf(t.Bytes), oneLine(what), byWhom(t.Who, t.Reason))
	}
	_, err = io.WriteString(a.out, b.String())
	return err
}

// list writes one row for each session; with -q only the names.
func (a *app) list(all []listed) error {
	var b strings.Builder
	width := len("session")
	for _, s := range all {
		width = max(width, columnsOf(sessionName(s.Session)))
	}
	if !a.quiet {
		fmt.Fprintln(&b, a.style.dim(left("session", width)+"  steps  files       size  last written"))
	}
	for _, s := range all {
		if a.quiet {
			fmt.Fprintln(&b, printable(s.Session))
			continue
		}
		fmt.Fprintf(&b, "%s  %5d  %5d  %9s  %s", left(sessionName(s.Session), width), s.Steps, s.Files, bytesOf(s.Bytes), stamp(s.Modified))
		if s.Held {
			fmt.Fprint(&b, a.style.yellow("  "+s.holdRow.text()))
		}
		if s.Erasing {
			fmt.Fprint(&b, a.style.red("  erase begun; archive erase completes it"))
		}
		if s.Problem != "" {
			fmt.Fprint(&b, a.style.red("  "+oneLine(s.Problem)))
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}
