package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/user"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

func newArchiveHeads(a *app) *cobra.Command {
	var out string
	var fresh, public bool
	cmd := &cobra.Command{
		Use:   "heads [--out FILE]",
		Short: "Write the heads of all sessions, to keep them elsewhere",
		Long: `Heads writes the lines of the folder _heads of the archive. There is one line for each
commit, final transcript, checkpoint, hold, release and erase. Each process chains the
lines that it writes. Keep a copy where nobody who can write to the archive can write:
the copy later proves what the archive must hold (compactctl archive verify --heads FILE).

A process with COMPACT_HEADS_KEY in its environment signs its lines (Ed25519). --new-key
makes such a key (as "openssl rand -base64 32" does) and prints it with its public key,
COMPACT_HEADS_PUBLIC, which verify needs. --public prints the public key of the key in
the environment.`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case fresh:
				return a.newHeadsKey()
			case public:
				return a.publicHeadsKey(os.Getenv("COMPACT_HEADS_KEY"))
			}
			archive, err := a.readFor(cmd, out)
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := record.WriteHeads(cmd.Context(), archive, &b); err != nil {
				return &brokenArchive{err}
			}
			if out != "" && out != "-" {
				return a.writeFile(out, b.Bytes())
			}
			_, err = b.WriteTo(a.out)
			return err
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to `FILE` (default: standard output)")
	cmd.Flags().BoolVar(&fresh, "new-key", false, "make a signing key, and print it")
	cmd.Flags().BoolVar(&public, "public", false, "print the public key of COMPACT_HEADS_KEY")
	return cmd
}

func (a *app) newHeadsKey() error {
	a.warnIfReadable(a.out)
	seed := make([]byte, 32)
	_, _ = rand.Read(seed) // never fails
	text := base64.StdEncoding.EncodeToString(seed)
	if _, err := fmt.Fprintf(a.out, "COMPACT_HEADS_KEY=%s\n", text); err != nil {
		return err
	}
	return a.publicHeadsKey(text)
}

func (a *app) publicHeadsKey(text string) error {
	key, err := record.HeadsKey(text)
	if err != nil {
		return &usageError{fmt.Errorf("COMPACT_HEADS_KEY: %w", err)}
	}
	_, err = fmt.Fprintf(a.out, "COMPACT_HEADS_PUBLIC=%s\n", base64.StdEncoding.EncodeToString(publicOf(key)))
	return err
}

// actor holds the name of the person who changes an archive, and the reason; both are
// recorded.
type actor struct{ who, why string }

// flags adds --who, --why and --reason, the older name of --why.
func (x *actor) flags(cmd *cobra.Command, kept string) {
	cmd.Flags().StringVar(&x.why, "why", "", "`TEXT` that "+kept)
	cmd.Flags().StringVar(&x.why, "reason", "", "`TEXT`: the same as --why")
	cmd.Flags().StringVar(&x.who, "who", "", "`NAME` of the person who asks for it (default: the user of this system)")
}

// redacted returns the texts of --who and --why, redacted.
func (x *actor) redacted(cfg compact.Config) (who, why redact.Text, err error) {
	r, err := cfg.Redaction.Redactor()
	if err != nil {
		return who, why, err
	}
	if x.who == "" {
		x.who = systemUser()
	}
	return r.Text(x.who), r.Text(x.why), nil
}

// systemUser returns the name of the user who runs the command.
func systemUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

// change opens a session for an operation that is recorded in it.
func (a *app) change(cmd *cobra.Command, name string, x *actor) (*record.Session, redact.Text, func() error, error) {
	return a.changeBy(cmd, name, x, openSession)
}

// changeBy is change for a session that open opens.
func (a *app) changeBy(cmd *cobra.Command, name string, x *actor, open func(context.Context, storage.Archive, string) (*record.Session, error)) (*record.Session, redact.Text, func() error, error) {
	archive, cfg, err := a.openArchive(cmd)
	if err != nil {
		return nil, redact.Text{}, nil, err
	}
	s, err := open(cmd.Context(), archive, a.called(cmd.Context(), archive, name))
	if err != nil {
		return nil, redact.Text{}, nil, err
	}
	who, why, err := x.redacted(cfg)
	if err != nil {
		return nil, redact.Text{}, nil, err
	}
	h, err := headsOf(cfg, archive)
	if err != nil {
		return nil, redact.Text{}, nil, err
	}
	s.KeepHeads(h)
	s.ActAs(who)
	return s, why, func() error { return a.sendRecord(cmd.Context(), archive) }, nil
}

// headsOf returns the heads that a command writes. Where COMPACT_HEADS_PUBLIC makes verify
// refuse unsigned heads, a command without the key would leave a record that is broken for
// good.
func headsOf(cfg compact.Config, archive storage.Archive) (*record.Heads, error) {
	if len(cfg.HeadsKey) == 0 && os.Getenv("COMPACT_HEADS_PUBLIC") != "" {
		return nil, &usageError{errors.New("COMPACT_HEADS_PUBLIC is set, so that verify refuses unsigned heads, and this command would write some: set COMPACT_HEADS_KEY, or unset COMPACT_HEADS_PUBLIC")}
	}
	h, err := cfg.Heads(archive)
	if err != nil {
		return nil, &usageError{err}
	}
	return h, nil
}

// sendRecord uploads the content of a spool, with the record of the command. If the
// bucket can't be reached, it warns and returns no error, because the command has done
// its work.
func (a *app) sendRecord(ctx context.Context, archive storage.Archive) error {
	s, _, ok := configs.SpoolOf(archive)
	if !ok {
		return nil
	}
	err := s.Close(ctx)
	if waiting := new(spool.WaitingError); errors.As(err, &waiting) {
		a.complain("compactctl", "in the spool, and not in the bucket yet: "+err.Error())
		return nil
	}
	return err
}
