package fileops

import "testing"

func TestOutlinedReadsDeclarationsAndMethods(t *testing.T) {
	for line, want := range map[string][2]string{
		"export class Queue {":                {"class", "Queue"},
		"    def push(self, item):":           {"function", "push"},
		"\tclaimTask(task: Task): boolean {":  {"function", "claimTask"},
		"static ast_t* make_type(opt_t* o) {": {"function", "make_type"},
		"\tif (ready) {":                      {"function", ""},
		"} else if (ready) {":                 {"function", ""},
		"this.run(() => {":                    {"function", ""},
	} {
		if kind, name := Outlined(line); kind != want[0] || name != want[1] {
			t.Errorf("Outlined(%q) = %s %s, want %v", line, kind, name, want)
		}
	}
}
