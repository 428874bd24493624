package redact

import (
	"strings"
	"testing"
)

// TestDumpsAtTheBeginningOfATextAreRead has a dump without an address at the first byte of a
// text.
func TestDumpsAtTheBeginningOfATextAreRead(t *testing.T) {
	family{clean: []string{" 70 61 73 73", "\t70617373", "  70 61 73 73 77 6f\n", "-7061 7373 776f"}}.check(t, newRedactor(t, Options{}))
}

// TestColumnsOfADumpLoseTheValue has a value in the numbers of a dump, and in the column of
// text beside them.
func TestColumnsOfADumpLoseTheValue(t *testing.T) {
	r := newRedactor(t, Options{})
	got := r.Text("00000000  70 77 3a 20 70 61 73 73  77 6f 72 64 3d 61 79 73  |pw: password=ays|\n00000010  52 6a 53 46 70 72 47 37  55 36 50 44 69 35 5a 6f  |RjSFprG7U6PDi5Zo|\n00000020  35                                                |5|\n").String()
	for _, part := range []string{"ays", "RjSF", "U6PD", "52 6a", "55 36"} {
		if strings.Contains(got, part) {
			t.Errorf("%q is left:\n%s", part, got)
		}
	}
}
