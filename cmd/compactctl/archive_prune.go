package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

func newArchivePrune(a *app) *cobra.Command {
	x := &actor{}
	var age string
	var yes, trust bool
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Erase the sessions whose last write is older than an age",
		Long:  aboutArchivePrune,
		Args:  arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := ageOf(age)
			if err != nil {
				return err
			}
			archive, cfg, err := a.openArchive(cmd)
			if err != nil {
				return err
			}
			who, why, err := x.redacted(cfg)
			if err != nil {
				return err
			}
			h, err := headsOf(cfg, archive)
			if err != nil {
				return err
			}
			index, err := a.openIndexes(cmd, archive)
			if err != nil {
				return err
			}
			err = a.prune(cmd, archive, record.PruneOptions{Age: max(d, 1), TrustClock: trust, DryRun: !yes, Reason: why, Who: who, Heads: h, Index: index})
			err = errors.Join(err, index.close())
			if err == nil && yes {
				err = a.sendRecord(cmd.Context(), archive)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&age, "older-than", "", "`AGE`, in days (90d) or as a duration (12h)")
	cmd.Flags().BoolVar(&yes, "yes", false, "erase; without it, only list the sessions")
	cmd.Flags().BoolVar(&trust, "trust-clock", false, "count ages from the clock of this machine in any case")
	x.flags(cmd, "the tombstones keep")
	return cmd
}

const aboutArchivePrune = `Prune erases sessions whose last write is older than AGE (such as 90d or 12h) and
leaves a tombstone for each. Prune keeps sessions under a legal hold. Without --yes it
only lists the sessions that it would erase.

The clock of this machine may be wrong. If the newest write in the archive is more than a
day ago by this clock, ages count from a day after that write, and prune lists the
sessions that it keeps for this reason. If the clock is more than a day behind that
write, prune refuses. --trust-clock erases by the clock of this machine alone.`

// ageOf parses ages such as 90d and 12h.
func ageOf(s string) (time.Duration, error) {
	if number, ok := strings.CutSuffix(s, "d"); ok {
		if days, err := strconv.ParseUint(number, 10, 0); err == nil && days <= mostDays {
			return time.Duration(days) * day, nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	return 0, &usageError{fmt.Errorf("--older-than %q is not an age: use a form such as 90d or 12h", s)}
}

const day = 24 * time.Hour

// mostDays is the number of whole days that fit into a Duration. More would overflow
// to a time in the future.
const mostDays = uint64(math.MaxInt64 / day)

// pruneRow is the outcome for one session. In a dry run it is the expected outcome.
type pruneRow struct {
	Session string `json:"session"`
	Outcome string `json:"outcome"`
	Error   string `json:"error,omitempty"`

	KeptUntil *time.Time `json:"kept_until,omitempty"` // end of a lock
}

// sayPruned prints what the rows leave open.
func (a *app) sayPruned(all []pruneRow) error {
	would := 0
	for _, p := range all {
		if p.Outcome == string(record.WouldPrune) {
			would++
		}
	}
	switch {
	case len(all) == 0:
		return a.say("No session is that old.")
	case would > 0:
		return a.say("Nothing was erased. Add --yes to erase %s.", things(would, "session"))
	}
	return nil
}

func (a *app) prune(cmd *cobra.Command, archive storage.Archive, o record.PruneOptions) error {
	all, failed := []pruneRow{}, error(nil)
	for r, err := range record.Prune(cmd.Context(), archive, o) {
		if err != nil {
			return &brokenArchive{err}
		}
		p := pruneRow{Session: r.Session.ID, Outcome: string(r.Outcome)}
		if p.Session == "" {
			p.Session = r.Session.Dir
		}
		if r.Err != nil {
			p.Error = r.Err.Error()
			failed = errors.Join(failed, r.Err)
		}
		all = append(all, p)
		until := ""
		if !r.KeptUntil.IsZero() {
			p.KeptUntil, until = &r.KeptUntil, " until "+stamp(r.KeptUntil)
		}
		if !a.json {
			if err := a.say("%s: %s%s", sessionName(p.Session), p.Outcome, until); err != nil {
				return err
			}
		}
	}
	if a.json {
		if err := a.printJSON(all); err != nil {
			return err
		}
	} else if err := a.sayPruned(all); err != nil {
		return err
	}
	if failed != nil {
		return &brokenArchive{failed}
	}
	return nil
}
