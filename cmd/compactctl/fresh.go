package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// sessionIn returns the id under which this run archives a transcript. The candidates
// are ID, ID.2, ID.3, …. With --fresh it returns the first candidate that the archive
// does not have, and without it the last candidate that the archive has. Without
// --fresh, a given id is used unchanged.
func (a *app) sessionIn(ctx context.Context, cfg compact.Config, m *compact.CompactManager, t *transcript) (string, error) {
	id := a.session(t)
	old := id // id of the session in version 1 of the archive
	if a.input.session == "" {
		id = m.Keyed(ctx, id)
	}
	if missing(cfg.Storage) || cfg.Storage.Adapter == "memory" || cfg.Archive != nil || a.input.session != "" && !a.input.fresh {
		return id, nil
	}
	archive, err := configs.OpenArchiveReadOnly(cfg.Storage)
	if err != nil {
		return a.unlessFresh(id, err)
	}
	if used, err := isUsed(ctx, archive, old); err != nil {
		return a.unlessFresh(id, err)
	} else if used {
		id = old
	}
	newest := id
	for n := 2; ; n++ {
		used, err := isUsed(ctx, archive, newest)
		if err != nil {
			return a.unlessFresh(id, err)
		}
		next := id + "." + strconv.Itoa(n)
		if !used {
			return newest, nil
		}
		if !a.input.fresh {
			if used, err = isUsed(ctx, archive, next); err != nil || !used {
				return newest, nil
			}
		}
		newest = next
	}
}

// unlessFresh handles an archive that can't be read. With --fresh it returns the error.
// Otherwise it returns the id, because the manager reports the error later, and may
// continue without the archive.
func (a *app) unlessFresh(id string, err error) (string, error) {
	if a.input.fresh {
		return "", &brokenArchive{err}
	}
	return id, nil
}

// isUsed reports whether the archive has any file of a session.
func isUsed(ctx context.Context, archive storage.Archive, id string) (bool, error) {
	s, err := record.OpenSession(ctx, archive, id)
	if err != nil {
		return false, err
	}
	for _, err := range s.Files(ctx) {
		return err == nil, err
	}
	return false, nil
}

// sayEarlier warns that a part of the result comes from other settings, and names the
// flag that starts again. It prints even with -q, because after a change of a setting a
// user could take the earlier result for the new one.
func (a *app) sayEarlier(res *compact.Result) {
	for _, e := range res.Earlier {
		a.complain("compactctl", fmt.Sprintf("%s had other settings (%s); their edits are applied again. To start again, add --fresh", stepsOf(e), settingsOf(e)))
	}
}

// sayWarnings prints the errors that a call recovered from, such as a failed summary.
// It prints even with -q, because nothing else reports them.
func (a *app) sayWarnings(res *compact.Result) {
	for _, w := range res.Warnings {
		a.complain("compactctl", "warning: "+oneLine(w))
	}
}

func stepsOf(e compact.Earlier) string {
	switch e.Steps {
	case 0:
		return "earlier calls"
	case 1:
		return "step " + count(e.Last)
	}
	return fmt.Sprintf("%s steps, the last of them %s,", count(e.Steps), count(e.Last))
}

func settingsOf(e compact.Earlier) string {
	var all []string
	for _, s := range []struct{ name, value string }{{"preset", e.Preset}, {"strategy", e.Strategy}} {
		if s.value != "" {
			all = append(all, s.name+" "+oneLine(s.value))
		}
	}
	return strings.Join(append(all, "window "+count(e.Window)), ", ")
}
