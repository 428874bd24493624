package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/replay"
)

// current is the name of the policy that the archived session itself used.
const current = "current"

// fromArchive reads the session of --archive and --session, which replaces the files;
// nil if no session is named.
func (r *replaying) fromArchive(cmd *cobra.Command, paths []string) (*replay.Archived, error) {
	switch {
	case r.session == "" && r.wants(current):
		return nil, &usageError{errors.New("--policy current needs a session of an archive: add --session ID, and --archive DIR if the archive is elsewhere")}
	case r.session == "" && len(paths) == 0:
		return nil, &usageError{errors.New("replay needs at least one PATH (a file, a folder or a pattern), or --session ID of an archive")}
	case r.session == "":
		return nil, nil
	case len(paths) > 0:
		return nil, &usageError{fmt.Errorf("--session reads the messages from the archive: remove %s", paths[0])}
	}
	archive, err := r.readArchive(cmd)
	if err != nil {
		return nil, err
	}
	s, err := openToRead(cmd.Context(), archive, r.called(cmd.Context(), archive, r.session))
	if err != nil {
		return nil, err
	}
	if err := r.accessed(cmd, s, "replay", ""); err != nil {
		return nil, err
	}
	a, err := replay.FromArchive(cmd.Context(), archive, s, r.session)
	switch {
	case errors.Is(err, replay.ErrNotWhole):
		return nil, &inputError{file: "replay", err: fmt.Errorf("%w. Replay the agent's own log instead, or archive sessions with storage.transcripts: all", err)}
	case err != nil:
		return nil, &brokenArchive{err}
	}
	r.asItWas(cmd, a)
	return a, nil
}

// asItWas takes the window and the gaps from the archive unless the command line sets
// them. It adds the policy current to the usual policies if the command line names
// none.
func (r *replaying) asItWas(cmd *cobra.Command, a *replay.Archived) {
	if !cmd.Flags().Changed("window") && a.Window > 0 {
		r.windows = []int{a.Window}
	}
	if !cmd.Flags().Changed("gap") && a.Timed() {
		r.gap = recorded
	}
	if len(r.policies) == 0 {
		r.policies = append([]string{current}, usual()...)
	}
}

func (r *replaying) wants(policy string) bool {
	for _, p := range r.policies {
		if p == policy {
			return true
		}
	}
	return false
}
