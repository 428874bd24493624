package replay

import (
	"strings"
	"testing"
)

// The name of a session can come from anybody: a spreadsheet must not run it as a formula.
func TestCSVOfAReportHasNoFormulas(t *testing.T) {
	var out strings.Builder
	r := &Report{Rows: []Row{{Session: `=HYPERLINK("https://example.test")`, Policy: "@economy"}}}
	if err := r.WriteCSV(&out); err != nil {
		t.Fatal(err)
	}
	if row := strings.Split(out.String(), "\n")[1]; !strings.HasPrefix(row, `"'=HYPERLINK(`) || !strings.Contains(row, ",'@economy,") {
		t.Errorf("the row is %s", row)
	}
}
