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

// sessionIn is the id under which a transcript is archived now: of the sessions
// ID, ID.2, ID.3, … that --fresh has begun, the newest, and with --fresh the one
// behind it. An id that was given is taken as it is, unless --fresh is.
func (a *app) sessionIn(ctx context.Context, cfg compact.Config, m *compact.CompactManager, t *transcript) (string, error) {
	id := a.session(t)
	old := id // what version 1 of the archive calls it
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

// unlessFresh is the answer where the archive can't be read: who did not ask for
// another session hears of that from the manager, which may go on without.
func (a *app) unlessFresh(id string, err error) (string, error) {
	if a.input.fresh {
		return "", &brokenArchive{err}
	}
	return id, nil
}

// isUsed reports whether the archive has something of a session.
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

// sayEarlier says that what is shown is, in part, what other settings did, and
// how to begin anew. It is said whatever else is not: who changed a setting and
// sees the first result again would take it for the second.
func (a *app) sayEarlier(res *compact.Result) {
	for _, e := range res.Earlier {
		a.complain("compactctl", fmt.Sprintf("%s had other settings (%s); what was done then is done again. To begin anew: --fresh", stepsOf(e), settingsOf(e)))
	}
}

// sayWarnings says what a call got over, such as a summary that could not be had.
// It is said whatever else is not: with -q, too, nobody else would say it.
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
