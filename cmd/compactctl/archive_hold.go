package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage/record"
)

func newArchiveHold(a *app) *cobra.Command {
	x := &actor{}
	var release bool
	cmd := &cobra.Command{
		Use:   "hold SESSION",
		Short: "Put a session under a legal hold, or end the hold",
		Long: `A session under a legal hold can be neither erased nor pruned until --release ends the
hold. The manifest and the heads record who asked for the hold and why. Hold prints the
head of the manifest. Keep that head to prove the hold later: compactctl archive verify
SESSION --head HASH.`,
		Args: arguments(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.each(cmd, args[0], func(name string) error { return a.hold(cmd, args[0], name, x, release) })
		},
	}
	cmd.Flags().BoolVar(&release, "release", false, "end the hold")
	x.flags(cmd, "the manifest keeps")
	return cmd
}

// hold puts the session with this id, which the archive stores under name, under a
// hold, or releases the hold.
func (a *app) hold(cmd *cobra.Command, id, name string, x *actor, release bool) error {
	s, why, send, err := a.change(cmd, name, x)
	if err != nil {
		return err
	}
	do := s.Hold
	if release {
		do = s.Release
	}
	before, _ := s.Held(cmd.Context()) // only for the text
	err = do(cmd.Context(), why)
	if untold := new(record.HeadError); errors.As(err, &untold) { // the hold is in force
		a.complain("compactctl", untold.Error())
		err = nil
	}
	if err == nil {
		err = send()
	}
	if err != nil {
		return unfinished(s, err)
	}
	if a.json {
		return a.printJSON(map[string]any{"session": id, "folder": s.Key().String(), "held": !release, "manifest_head": s.ManifestHead()})
	}
	return a.say("%s %s; head %s", inFolder(id, name), holdOutcome(before, release), s.ManifestHead())
}

// holdOutcome describes the outcome of a hold or a release for a session, which was under a
// hold before, or not.
func holdOutcome(before record.LegalHold, release bool) string {
	switch {
	case !release && before.Held:
		return "is still under a legal hold (" + oneLine(heldAs(before).text()) + "); one --release ends both"
	case !release:
		return "is under a legal hold"
	case before.Held:
		return "is under no legal hold any more"
	default:
		return "was under no legal hold"
	}
}
