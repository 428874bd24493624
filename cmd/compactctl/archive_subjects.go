package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/search"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// subjectFound is a session that concerns a person.
type subjectFound struct {
	Session string `json:"session"`
	Folder  string `json:"folder"`
	Of      string `json:"of"`  // the identifier
	How     string `json:"how"` // one of howName, …
	Texts   int    `json:"texts,omitempty"`
}

// The ways in which a session concerns a person.
const (
	howName  = "name"        // its name is the identifier, or the identifier's keyed hash
	howAgent = "agent"       // an agent of that name worked in it
	howText  = "text"        // a text of the session contains the identifier
	howStand = "placeholder" // a text contains the placeholder of the identifier; another person's identifier may have the same placeholder
)

func newArchiveSubjects(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "subjects",
		Short: "Find the sessions of a person",
		Args:  cobra.ArbitraryArgs,
		RunE:  group,
	}
	cmd.AddCommand(newArchiveSubjectsFind(a))
	return cmd
}

func newArchiveSubjectsFind(a *app) *cobra.Command {
	var copied bool
	cmd := &cobra.Command{
		Use:   "find IDENTIFIER…",
		Short: "List the sessions that contain one of a person's identifiers",
		Long: `Find takes e-mail addresses, names or ids of a person (better several of them) and lists
three kinds of sessions: those with such a name, those of an agent with such a name, and
those whose text contains one. Redaction may treat the name of a session or an agent as a
secret. Find still finds it, by its hash with the key of the archive. In texts, find finds
a redacted identifier only by its placeholder, and only with redaction.pseudonyms.
Placeholders are short: one may stand for another person.

Find reads the index of compactctl archive search.`,
		Example: `  compactctl archive subjects find alice@example.com "Alice Liddell" u-4711`,
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.findSubjects(cmd, args, copied) },
	}
	a.addArchive(cmd)
	cmd.Flags().BoolVar(&copied, "plain-index", false, "allow an unencrypted index of an encrypted archive")
	return cmd
}

func (a *app) findSubjects(cmd *cobra.Command, ids []string, copied bool) error {
	archive, cfg, err := a.openWith(cmd, configs.OpenArchiveReadOnly)
	if err != nil {
		return err
	}
	x, err := a.indexOf(cmd, archive, copied)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	if err := a.indexed(cmd, x, nil); err != nil {
		return err
	}
	all := []subjectFound{}
	for _, id := range ids {
		found, err := a.subject(cmd, archive, x, id)
		if err != nil {
			return &brokenArchive{err}
		}
		all = append(all, found...)
	}
	if err := a.subjectsOnRecord(cmd, cfg, all); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(all)
	}
	return a.printSubjects(all)
}

// subject looks for one identifier.
func (a *app) subject(cmd *cobra.Command, archive storage.Archive, x *search.Index, id string) (out []subjectFound, err error) {
	names, err := a.lives(cmd.Context(), archive, id)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if s, err := openSession(cmd.Context(), archive, name); err == nil {
			dir := s.Key().String()
			name, _ := record.UnescapeSession(dir)
			out = append(out, subjectFound{Session: name, Folder: dir, Of: id, How: howName})
		} else if broken := new(brokenArchive); errors.As(err, &broken) {
			return nil, err
		}
	}
	add := func(how string, held []search.Held, err error) error {
		for _, h := range held {
			out = append(out, subjectFound{h.Session, h.Folder, id, how, h.Texts})
		}
		if errors.Is(err, search.ErrNoWords) {
			return nil // the search for it covers only names
		}
		return err
	}
	for _, agent := range slices.Compact([]string{id, compact.KeyedName(a.redactor, a.keys, id).String()}) {
		held, err := x.Workplaces(cmd.Context(), agent)
		if err := add(howAgent, held, err); err != nil {
			return nil, err
		}
	}
	held, err := x.Holding(cmd.Context(), search.Query{Words: phrase(id)})
	if err := add(howText, held, err); err != nil {
		return nil, err
	}
	if stand := a.redactor.Text(id).String(); stand != id && strings.Contains(stand, ":") { // the placeholder contains the name of its rule
		held, err := x.Holding(cmd.Context(), search.Query{Words: phrase(stand)})
		if err := add(howStand, held, err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// phrase returns the words in quotes, so that they must be adjacent.
func phrase(s string) string { return `"` + strings.ReplaceAll(s, `"`, " ") + `"` }

// subjectsOnRecord records who searched, but not the identifier, because that
// is personal data.
func (a *app) subjectsOnRecord(cmd *cobra.Command, cfg compact.Config, all []subjectFound) error {
	if !cfg.Storage.AccessLog {
		return nil
	}
	var dirs []string
	for _, f := range all {
		if !slices.Contains(dirs, f.Folder) {
			dirs = append(dirs, f.Folder)
		}
	}
	if len(dirs) == 0 { // also "no session has the identifier" reveals something
		dirs = []string{""}
	}
	archive, err := configs.OpenArchive(cfg.Storage)
	if err != nil {
		return &brokenArchive{err}
	}
	return a.recorded(cmd, cfg, archive, dirs, "subjects", "")
}

// printSubjects writes one row for each session and way.
func (a *app) printSubjects(all []subjectFound) error {
	if len(all) == 0 && !a.quiet {
		_, err := fmt.Fprintln(a.err, "no session contains any of these identifiers")
		return err
	}
	for _, f := range all {
		more := ""
		if f.Texts > 0 {
			more = "  " + things(f.Texts, "text")
		}
		name := f.Session
		if name == "" {
			name = f.Folder
		}
		if _, err := fmt.Fprintf(a.out, "%s  %s  %s%s\n", left(f.How, len(howStand)), sessionName(name), oneLine(f.Of), more); err != nil {
			return err
		}
	}
	return nil
}
