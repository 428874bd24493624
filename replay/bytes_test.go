package replay

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// Page, table, rows and JSON of two runs have the same bytes, however many sessions are
// replayed at once, because a replay uses no clock and no background work.
func TestTwoRunsWriteTheSameBytes(t *testing.T) {
	var sessions []*Session
	for i := range 4 {
		sessions = append(sessions, session(fmt.Sprint("s", i), 12+5*i))
	}
	o := Options{Policies: []Policy{preset(t, "graduated"), preset(t, "gateway"), Summarize(0.85)}, Windows: []int{6000}}
	written := func(workers int) []byte {
		o.Workers = workers
		rep := run(t, o, sessions...)
		var b bytes.Buffer
		for _, err := range []error{rep.WriteHTML(&b, "compactctl replay"), rep.WriteCSV(&b), rep.Write(&b), json.NewEncoder(&b).Encode(rep)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return b.Bytes()
	}
	first := written(1)
	for _, workers := range []int{1, 3} {
		if again := written(workers); !bytes.Equal(first, again) {
			t.Errorf("%d sessions at once: %d bytes, and %d that differ", workers, len(first), len(again))
		}
	}
}
