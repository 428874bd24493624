package record

import (
	"context"
	"errors"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// snapshot returns the files of a session, without files that are announced after the present
// end of the manifest, and without files that wait for a scrub other than this one. The
// manifest is cut to that end.
func snapshot(ctx context.Context, a storage.Archive, dir storage.Key, scrub *unplaced) ([]storage.Info, error) {
	manifest := child(dir, manifestName)
	info, err := stat(ctx, a, manifest)
	if err != nil && !errors.Is(err, storage.ErrNotExist) {
		return nil, err
	}
	until := info.Size
	var all []storage.Info
	for info, err := range a.List(ctx, dir) {
		if err != nil {
			return nil, err
		}
		if !info.Key.IsZero() && !waitsInVain(info.Key.Base(), scrub) {
			all = append(all, info)
		}
	}
	if len(all) == 0 {
		return nil, &storage.Error{Op: "list", Key: dir, Err: storage.ErrNotExist}
	}
	announced, err := announcements(ctx, a, manifest)
	if err != nil {
		return nil, err
	}
	files := all[:0]
	for _, f := range all {
		if f.Key == manifest {
			f.Size = until
		}
		if at, ok := announced[f.Key.Base()]; !ok || at < until {
			files = append(files, f)
		}
	}
	return files, nil
}

// waitsInVain reports whether a file waits for another scrub than this one. Such a file may
// be removed at any time.
func waitsInVain(name string, scrub *unplaced) bool {
	return waits(name) && (scrub == nil || !slices.Contains(scrub.waiting(), name))
}

// announcements returns the offset in the manifest of each file's first announcement.
func announcements(ctx context.Context, a storage.Archive, manifest storage.Key) (map[string]int64, error) {
	at := map[string]int64{}
	err := eachLineOf(ctx, a, manifest, 0, func(l rawLine) error {
		link, ok := parseLink(l.text)
		if !ok {
			return nil
		}
		r, _ := parseRecord(link.body())
		if _, known := at[r.Name]; !known && (r.Op == opPut || r.Op == opCommit) {
			at[r.Name] = l.off
		}
		return nil
	})
	return at, err
}
