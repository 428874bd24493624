package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/record"
)

// scrubbing holds the arguments of scrub.
type scrubbing struct {
	actor
	file       string
	rules, yes bool
}

func newArchiveScrub(a *app) *cobra.Command {
	x := &scrubbing{}
	cmd := &cobra.Command{
		Use:   "scrub SESSION",
		Short: "Remove a secret from stored sessions",
		Long: `Scrub overwrites secrets with asterisks in every file of a session. The secrets are the
lines of --secret-file (- is standard input), in every encoding in which the session may
hold them. With --rules, scrub also overwrites the secrets that the current redaction
rules find. Scrub rewrites the files. The manifest records who scrubbed, why, and the
hashes before and after; archive verify reports that. Lines keep their lengths, so the
session can continue.

Without --yes scrub only lists what it would overwrite. Scrub does not change a session
under a legal hold. An agent may continue the session during a scrub; scrub does not
check what the agent stores in the meantime. An interrupted scrub is finished by the next
scrub, or by the next agent that writes to the session.

The manifest keeps the old hash of each file. With it a reader can test guesses of a
secret. If the secret can be guessed (a short number, for example), erase the session
instead.`,
		Example: `  printf %s "$LEAKED" | compactctl archive scrub my-session --secret-file - --yes --why INC-7
  compactctl archive scrub my-session --rules`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			secrets, err := x.secrets(cmd.InOrStdin())
			if err != nil {
				return err
			}
			return a.each(cmd, args[0], func(name string) error { return a.scrub(cmd, args[0], name, x, secrets) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&x.file, "secret-file", "", "`FILE` with one secret on each line; - for standard input")
	f.BoolVar(&x.rules, "rules", false, "overwrite the secrets that the current redaction rules find")
	f.BoolVar(&x.yes, "yes", false, "scrub; without it, only list the files that hold secrets")
	x.flags(cmd, "the manifest keeps")
	return cmd
}

// secrets reads the values to remove.
func (x *scrubbing) secrets(in io.Reader) (out []string, err error) {
	if x.file == "" {
		if !x.rules {
			return nil, &usageError{errors.New("name the secrets with --secret-file, or add --rules")}
		}
		return nil, nil
	}
	var data []byte
	if x.file == "-" {
		data, err = io.ReadAll(in)
	} else {
		data, err = os.ReadFile(x.file)
	}
	if err != nil {
		return nil, &inputError{file: x.file, err: err}
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimRight(line, "\r\n"); line != "" {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		return nil, &usageError{fmt.Errorf("there is no secret in %s", x.file)}
	}
	return out, nil
}

func (a *app) scrub(cmd *cobra.Command, id, name string, x *scrubbing, secrets []string) error {
	s, why, send, err := a.change(cmd, name, &x.actor)
	if err != nil {
		return err
	}
	index, err := a.openIndexes(cmd, s.Archive())
	if err != nil {
		return err
	}
	s.KeepIndex(index)
	o := compact.ScrubOptions{Secrets: secrets, DryRun: !x.yes, Reason: why}
	if x.rules {
		o.Rules = a.redactor
	}
	report, err := compact.Scrub(cmd.Context(), s, o)
	err = errors.Join(err, index.close())
	if err == nil && x.yes {
		err = send()
	}
	switch {
	case errors.Is(err, compact.ErrShortSecret):
		return &usageError{errors.New("a secret must have at least 4 bytes")}
	case errors.Is(err, record.ErrHeld):
		return underHold(name)
	case err != nil:
		return unfinished(s, err)
	case a.json:
		return a.printJSON(report)
	}
	return a.printScrub(inFolder(id, name), &report)
}

// printScrub writes one row for each file.
func (a *app) printScrub(name string, r *compact.ScrubReport) error {
	for _, what := range r.Left { // each of these may still have the secret
		a.complain("compactctl", "not removed: "+what)
	}
	did, hint := "scrubbed "+name, ""
	if r.At.IsZero() && !r.Resumed {
		did, hint = "would scrub "+name, "; --yes does it"
	}
	if r.Resumed {
		did = "completed an interrupted scrub; " + did
	}
	if len(r.Files) == 0 && r.Resumed {
		return a.say("completed an interrupted scrub of %s; the session has none of the secrets any more", name)
	}
	if len(r.Files) == 0 {
		return a.say("%s: nothing to scrub, the session has none of the secrets", name)
	}
	places := 0
	for _, f := range r.Files {
		places += f.Places
		row := fmt.Sprintf("%6s  %s", count(f.Places), printable(f.Name))
		if f.Places == 0 {
			row = fmt.Sprintf("%6s  %s", "", printable(f.Name)+" (holds no secret; its hashes of other files or lines change)")
		}
		if err := a.say("%s", row); err != nil {
			return err
		}
	}
	if err := a.say("%s: %s in %s%s", did, things(places, "place"), things(len(r.Files), "file"), hint); err != nil {
		return err
	}
	if len(r.Steps) > 0 {
		return a.say("%s had a secret in the view: the next call of the session compacts again from the first of these steps on", things(len(r.Steps), "step"))
	}
	return nil
}
