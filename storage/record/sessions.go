package record

import (
	"context"
	"iter"
	"strings"
	"time"

	"github.com/agentcompact/compact/storage"
)

// SessionInfo describes a session in a listing.
type SessionInfo struct {
	// Dir is the name of the session's folder, for [OpenDir].
	Dir string `json:"dir"`
	// ID is the session's id, "" if the folder does not determine it.
	ID       string    `json:"id,omitempty"`
	Files    int       `json:"files"`
	Bytes    int64     `json:"bytes"`
	Steps    int       `json:"steps"`    // highest committed step
	Modified time.Time `json:"modified"` // time of the last write according to the backend; zero if unknown for any file
	unknown  bool      // Modified is unknown
	ours     bool      // some file has the name of a session's file
}

// Foreign reports whether the folder has none of the files of a session. It may belong to
// another program, so [Prune] and [Session.Erase] leave it alone.
func (i SessionInfo) Foreign() bool { return !i.ours }

// Sessions yields every session of an archive, in the order of their folders.
// It lists keys and reads no file. An error is yielded last.
func Sessions(ctx context.Context, a storage.Archive) iter.Seq2[SessionInfo, error] {
	return func(yield func(SessionInfo, error) bool) {
		var now SessionInfo
		for info, err := range a.List(ctx, storage.Key{}) {
			if err != nil {
				yield(SessionInfo{}, err)
				return
			}
			dir, file, ok := strings.Cut(info.Key.String(), "/")
			if !ok || !IsFolder(dir) {
				continue // not a session
			}
			if dir != now.Dir {
				if now.Dir != "" && !yield(now, nil) {
					return
				}
				id, _ := UnescapeSession(dir)
				now = SessionInfo{Dir: dir, ID: id}
			}
			now.add(file, info)
		}
		if now.Dir != "" {
			yield(now, nil)
		}
	}
}

func (i *SessionInfo) add(file string, info storage.Info) {
	i.Files++
	i.Bytes += info.Size
	i.ours = i.ours || isOfSession(file)
	i.unknown = i.unknown || info.Modified.IsZero()
	if info.Modified.After(i.Modified) {
		i.Modified = info.Modified
	}
	if i.unknown {
		i.Modified = time.Time{}
	}
	if n, ok := ledgerKind.number(file); ok {
		i.Steps = max(i.Steps, n)
	}
}
