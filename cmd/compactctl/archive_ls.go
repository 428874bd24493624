package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
)

// listed is a session as ls shows it.
type listed struct {
	Session  string    `json:"session"` // id, or folder where the id is too long to be told from it
	Folder   string    `json:"folder"`
	Steps    int       `json:"steps"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Modified time.Time `json:"modified"`
}

func newArchiveLs(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "ls",
		Short: "List the sessions",
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all := []listed{}
			archive, err := a.readArchive(cmd)
			if err != nil && !errors.Is(err, errNoArchive) {
				return err
			}
			if err == nil {
				for s, err := range storage.Sessions(cmd.Context(), archive) {
					if err != nil {
						return &brokenArchive{err}
					}
					name := s.ID
					if name == "" {
						name = s.Dir
					}
					all = append(all, listed{name, s.Dir, s.Steps, s.Files, s.Bytes, s.Modified})
				}
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
		},
	}
}

// list writes a row a session; with -q the names alone.
func (a *app) list(all []listed) error {
	var b strings.Builder
	width := len("session")
	for _, s := range all {
		width = max(width, columnsOf(oneLine(s.Session)))
	}
	if !a.quiet {
		fmt.Fprintln(&b, a.style.dim(left("session", width)+"  steps  files       size  last written"))
	}
	for _, s := range all {
		if a.quiet {
			fmt.Fprintln(&b, printable(s.Session))
			continue
		}
		fmt.Fprintf(&b, "%s  %5d  %5d  %9s  %s\n", left(oneLine(s.Session), width), s.Steps, s.Files, bytesOf(s.Bytes), s.Modified.Format(timeLayout))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}
