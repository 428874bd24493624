package main

import (
	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/search"
)

func newArchiveIndex(a *app) *cobra.Command {
	var rebuild, remove, copied bool
	cmd := &cobra.Command{
		Use:   "index",
		Short: "Make or update the index of search",
		Long:  aboutArchiveIndex,
		Example: `  compactctl archive index
  compactctl archive index --remove`,
		Args: arguments(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.index(cmd, rebuild, remove, copied) },
	}
	f := cmd.Flags()
	f.BoolVar(&rebuild, "rebuild", false, "build the index again from the archive")
	f.BoolVar(&remove, "remove", false, "remove the index")
	f.BoolVar(&copied, "plain-index", false, "allow an unencrypted index of an encrypted archive")
	return cmd
}

func (a *app) index(cmd *cobra.Command, rebuild, remove, copied bool) error {
	archive, _, err := a.openWith(cmd, configs.OpenArchiveReadOnly)
	if err != nil {
		return err
	}
	if rebuild || remove {
		folder, err := search.Folder(archive)
		if err == nil {
			err = search.Remove(folder)
		}
		if err != nil || remove {
			return err
		}
	}
	x, err := a.indexOf(cmd, archive, copied)
	if err != nil {
		return err
	}
	defer func() { _ = x.Close() }()
	var u search.Updated
	if err := a.indexed(cmd, x, &u); err != nil {
		return err
	}
	s, err := x.Stats(cmd.Context())
	if err != nil {
		return &brokenArchive{err}
	}
	if a.json {
		return a.printJSON(struct {
			search.Updated
			Texts int    `json:"texts"`
			Bytes int64  `json:"bytes"`
			Path  string `json:"path"`
		}{u, s.Texts, s.Bytes, x.Path()})
	}
	return a.say("%s, %s of them read now, %s removed: %s in %s", things(u.Sessions, "session"), count(u.Put), count(u.Gone), bytesOf(s.Bytes), x.Path())
}

const aboutArchiveIndex = `Index makes or updates the index of compactctl archive search. Each search updates it
too. --rebuild builds it again from the archive. --remove removes it; no text is lost, because the archive
holds all of it.`
