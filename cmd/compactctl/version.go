package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the linker in release builds.
var release string

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			v := versionOf(debug.ReadBuildInfo())
			if a.json {
				return a.printJSON(v)
			}
			_, err := fmt.Fprintln(a.out, v)
			return err
		},
	}
}

type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (v version) String() string {
	return fmt.Sprintf("compactctl %s (%s, %s)", v.Version, v.Go, v.Platform)
}

// versionOf returns the version of this build: the release, the module's version, or
// the revision.
func versionOf(info *debug.BuildInfo, ok bool) version {
	v := version{Version: release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if !ok {
		return v.named("unknown")
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			v.Revision = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			v.Revision += "+changes"
		}
	}
	if m := info.Main.Version; m != "" && m != "(devel)" {
		return v.named(m)
	}
	if v.Revision != "" {
		return v.named("devel-" + v.Revision)
	}
	return v.named("devel")
}

// named returns v with the given version, if it has none.
func (v version) named(name string) version {
	if v.Version == "" {
		v.Version = name
	}
	return v
}
