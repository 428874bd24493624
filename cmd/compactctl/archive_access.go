package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

func newArchiveAccess(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "access",
		Short: "List who read which session, and when",
		Long: `Access lists the access records: who recalled, searched, showed, exported or copied
which session, and when. An archive has access records if storage.access_log is on.
Archive verify checks them as it checks the sessions.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			archive, err := a.readArchive(cmd)
			if err != nil {
				return err
			}
			all := []record.Access{}
			for x, err := range record.Accesses(cmd.Context(), archive) {
				if err != nil {
					return &brokenArchive{err}
				}
				if id, ok := record.UnescapeSession(x.Session); ok {
					x.Session = id
				}
				all = append(all, x)
			}
			if a.json {
				return a.printJSON(all)
			}
			if len(all) == 0 && !a.quiet {
				_, err := fmt.Fprintln(a.err, "There are no access records: nobody read the archive, or storage.access_log is off.")
				return err
			}
			for _, x := range all {
				if _, err := fmt.Fprintf(a.out, "%s  %-8s  %s  by %s  %s\n", stamp(x.At), oneLine(x.Op), sessionName(cmp.Or(x.Session, "(all sessions)")), oneLine(x.Who), oneLine(x.What)); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// accessed records that the user of this system reads a session, if the
// configuration requires access records. If it can't write the record, it returns an error,
// and the command reads nothing.
func (a *app) accessed(cmd *cobra.Command, s *record.Session, op, what string) error {
	cfg, err := a.load(cmd, configs.KeysOptional())
	if err != nil || !cfg.Storage.AccessLog {
		return err
	}
	archive, err := configs.OpenArchive(cfg.Storage)
	if err != nil {
		return &brokenArchive{err}
	}
	return a.recorded(cmd, cfg, archive, []string{s.Key().String()}, op, what)
}

// recorded records that the user of this system reads sessions.
func (a *app) recorded(cmd *cobra.Command, cfg compact.Config, archive storage.Archive, dirs []string, op, what string) error {
	x := &actor{why: what}
	who, redacted, err := x.redacted(cfg)
	if err != nil {
		return err
	}
	l := record.NewAccessLog(archive)
	for _, dir := range dirs {
		err = errors.Join(err, l.Record(cmd.Context(), dir, op, who, redacted))
	}
	if err == nil {
		err = a.sendRecord(cmd.Context(), archive)
	}
	if err != nil {
		return &brokenArchive{errors.Join(errors.New("nothing was read, because the access can't be recorded (storage.access_log)"), err)}
	}
	return nil
}
