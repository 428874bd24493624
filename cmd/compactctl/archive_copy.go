package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/record"
)

func newArchiveCopy(a *app) *cobra.Command {
	plain := false
	cmd := &cobra.Command{
		Use:   "copy SRC DST [SESSION...]",
		Short: "Copy sessions into another archive, and verify them there",
		Long:  aboutArchiveCopy,
		Example: `  compactctl archive copy .compact/archive s3://bucket/team
  compactctl archive copy s3://bucket/team /mnt/safe job-7`,
		Args: arguments(cobra.MinimumNArgs(2)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := overlap(args[0], args[1]); err != nil {
				return err
			}
			src, err := a.readArchiveAt(cmd, args[0])
			if err != nil {
				return err
			}
			dst, cfg, err := a.archiveAt(cmd, args[1], configs.OpenArchive)
			if err != nil {
				return err
			}
			opts := record.CopyOptions{Progress: func(k storage.Key) { a.progress.start("copying " + k.Dir()) }}
			if opts.Heads, err = headsOf(cfg, dst); err != nil {
				return err
			}
			if opts.Sessions, err = a.folders(cmd.Context(), src, args[2:]); err != nil {
				return err
			}
			if encrypted(src) && !encrypted(dst) && !plain {
				return &usageError{fmt.Errorf("%s is encrypted, and the copy in %s would not be: add a --config that has storage.encrypt.recipients, or --plain for an unencrypted copy", printable(args[0]), printable(args[1]))}
			}
			if err := a.copyRecorded(cmd, args[0], args[1], src, opts.Sessions); err != nil {
				return err
			}
			err = a.copied(cmd.Context(), dst, src, opts)
			if errors.Is(err, record.ErrErased) {
				err = errors.Join(err, fmt.Errorf("%s has erased this session, and erased data does not come back: copy it into another folder. All other sessions were copied", printable(args[1])))
			}
			return err
		},
	}
	cmd.Flags().Var(&oneFileFlag{at: &a.config}, "config", "configuration `FILE` (YAML or JSON)")
	cmd.Flags().BoolVar(&plain, "plain", false, "allow an unencrypted copy of an encrypted archive")
	return cmd
}

// folders returns the folders of sessions by their ids.
func (a *app) folders(ctx context.Context, archive storage.Archive, names []string) (all []string, err error) {
	for _, name := range names {
		s, err := openSession(ctx, archive, a.called(ctx, archive, name))
		if err != nil {
			return nil, err
		}
		all = append(all, s.Key().String())
	}
	return all, nil
}

const aboutArchiveCopy = `Copy copies all sessions, or the sessions that are named, from one archive into another.
An archive is a folder or s3://BUCKET/PREFIX. Files are copied byte for byte, and legal
holds are copied too. A copy of all sessions includes the tombstones, the heads and the
access records; a copy of named sessions includes a head of the copy. Copy overwrites
nothing in DST. To finish an interrupted copy, run it again.

If a session was erased in SRC since an earlier copy, copy erases it in DST too, for the
same reason. SRC must prove the erase with a whole tombstone and its heads. If a legal
hold or a lock in DST keeps the session, copy reports that and copies no new heads.

The copy is encrypted if --config has storage.encrypt. COMPACT_ARCHIVE_IDENTITY lets copy
read an encrypted SRC. An unencrypted copy of an encrypted SRC needs --plain.

At the end, copy verifies every session in DST. Nothing else may write to the copied
sessions in the meantime.`

// copyRecorded writes access records of the system's user, if the
// configuration requires records: for all sessions of src, or for the named
// ones, because they are read and copied.
func (a *app) copyRecorded(cmd *cobra.Command, at, to string, src storage.Archive, dirs []string) error {
	archive, cfg, err := a.archiveAt(cmd, at, func(c compact.StorageConfig) (storage.Archive, error) {
		if !c.AccessLog {
			return nil, nil // the archive may be in a place without write access
		}
		if err := encryptAs(src, &c.Encrypt); err != nil {
			return nil, err
		}
		return configs.OpenArchive(c)
	})
	if err != nil || archive == nil {
		return err
	}
	if len(dirs) == 0 {
		for info, err := range record.Sessions(cmd.Context(), src) {
			if err != nil {
				return &brokenArchive{err}
			}
			dirs = append(dirs, info.Dir)
		}
	}
	return a.recorded(cmd, cfg, archive, dirs, "copy", to)
}

// encryptAs changes e, the encryption of the copy, to the encryption for more writes to
// src: none if src is not encrypted; otherwise the readers of src become additional
// recipients.
func encryptAs(src storage.Archive, e *compact.EncryptConfig) error {
	if !encrypted(src) {
		*e = compact.EncryptConfig{}
		return nil
	}
	text, err := crypt.IdentityText()
	if err != nil {
		return err
	}
	readers, err := crypt.RecipientsOf(text)
	if err != nil {
		return err
	}
	for _, r := range readers {
		if !slices.Contains(e.Recipients, r) {
			e.Recipients = append(slices.Clone(e.Recipients), r)
		}
	}
	return nil
}

// copied copies and verifies.
func (a *app) copied(ctx context.Context, dst, src storage.Archive, opts record.CopyOptions) error {
	v := &verifying{}
	if err := v.readKeys(); err != nil {
		return err
	}
	opts.Public = v.keys
	done, err := record.Copy(ctx, dst, src, opts)
	a.progress.stop()
	if err != nil {
		return &brokenArchive{err}
	}
	reports, err := a.verify(ctx, dst, opts.Sessions, v)
	if err != nil {
		return err
	}
	if a.json {
		return errors.Join(a.printJSON(done), a.judgeQuietly(reports))
	}
	if err := a.say("copied %s: %s, %s; %s there already", things(done.Sessions, "session"), things(done.Files, "file"), bytesOf(done.Bytes), things(done.Same, "file")); err != nil {
		return err
	}
	if done.Erased > 0 {
		if err := a.say("erased %s of the copy, as in the source", things(done.Erased, "session")); err != nil {
			return err
		}
	}
	return a.judge(reports, false)
}

// judgeQuietly is judge without output.
func (a *app) judgeQuietly(all []verified) error {
	var errs []error
	for _, v := range all {
		if !v.OK {
			errs = append(errs, &brokenArchive{fmt.Errorf("the stored data was changed: %s", v.Session)})
		}
	}
	return errors.Join(errs...)
}

// archiveAt opens the archive in a folder or a bucket, with the other settings
// of the configuration. It uses no spool, so that copied files are in the
// archive itself.
func (a *app) archiveAt(cmd *cobra.Command, at string, open func(compact.StorageConfig) (storage.Archive, error)) (storage.Archive, compact.Config, error) {
	opts, err := place(at)
	if err != nil {
		return nil, compact.Config{}, err
	}
	cfg, err := a.load(cmd, append(opts, configs.KeysOptional())...)
	if err != nil {
		return nil, cfg, err
	}
	if a.redactor, err = cfg.Redaction.Redactor(); err != nil {
		return nil, cfg, err
	}
	archive, err := open(cfg.Storage)
	if err != nil {
		return nil, cfg, &brokenArchive{err}
	}
	return archive, cfg, nil
}

// readArchiveAt is archiveAt for an existing place that is only read.
func (a *app) readArchiveAt(cmd *cobra.Command, at string) (storage.Archive, error) {
	archive, cfg, err := a.archiveAt(cmd, at, configs.OpenArchiveReadOnly)
	if missing(cfg.Storage) {
		return nil, fmt.Errorf("%w in %s", errNoArchive, at)
	}
	if err != nil {
		return nil, err
	}
	if a.keys, err = compact.KeysOf(cmd.Context(), cfg, archive); err != nil {
		return nil, &brokenArchive{err}
	}
	return archive, nil
}
