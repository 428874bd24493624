package strategy_test

import (
	"testing"

	"github.com/agentcompact/compact/strategy"
)

// A reader takes the step behind "edited" for the one that edited the file. A
// later look at it must not move it.
func TestChangedFilesAreCitedWhereTheyWereChanged(t *testing.T) {
	msgs := called("1", "edit", `{"path":"a/b.go","old_string":"x","new_string":"y"}`, "ok")
	msgs = append(msgs, called("2", "read", `{"path":"a/b.go"}`, "package b")...)
	msgs = append(msgs, called("3", "bash", `{"command":"cat a/b.go"}`, "package b")...)
	msgs = append(msgs, called("4", "read", `{"path":"a/c.go"}`, "package c")...)
	msgs = append(msgs, called("5", "read", `{"path":"a/c.go"}`, "package c")...)
	files := history(msgs...).Files()
	if len(files) != 2 || files[0].Path != "a/b.go" || files[0].Op != strategy.Edited || files[0].Last != 1 {
		t.Errorf("the file that was edited: %+v", files)
	}
	if len(files) == 2 && files[1].Last != 9 {
		t.Errorf("the file that was read only: %+v", files[1])
	}
}
