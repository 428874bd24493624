package strategy

import "testing"

// An editor's undo takes back the last change of the file, and is no change.
func TestUndoOfAnEditorTakesTheLastChangeBack(t *testing.T) {
	edit := func(old, with string) [3]string {
		return [3]string{"str_replace_editor", `{"command":"str_replace","path":"/app/sum.py","old_str":"` + old + `","new_str":"` + with + `"}`, "The file /app/sum.py has been edited."}
	}
	undo := [3]string{"str_replace_editor", `{"command":"undo_edit","path":"/app/sum.py"}`, "Last edit to /app/sum.py undone successfully."}
	nothing := [3]string{"str_replace_editor", `{"command":"undo_edit","path":"/app/sum.py"}`, "No edit history found for /app/sum.py."}
	tells(t, long("Mend the sum.", ranCalls(edit("a = 1", "b = 2"), undo)...), []string{"`/app/sum.py`: edited, then taken back", "took the last change of `/app/sum.py` back"}, []string{"edited twice", "b = 2"})
	tells(t, long("Mend the sum.", ranCalls(edit("a = 1", "def first():"), edit("c = 1", "def second():"), undo)...), []string{"`/app/sum.py`: edited (in first)"}, []string{"edited twice", "first and second"})
	tells(t, long("Mend the sum.", ranCalls(edit("a = 1", "def first():"), edit("c = 1", "def second():"), undo, undo)...), []string{"`/app/sum.py`: edited, then taken back"}, []string{"edited twice", "first and second"})
	tells(t, long("Mend the sum.", ranCalls(edit("a = 1", "b = 2"), nothing)...), []string{"`/app/sum.py`: edited"}, []string{"taken back", "took "})
}
