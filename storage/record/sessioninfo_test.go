package record

import (
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
)

// The time of a session is unknown if the time of any of its files is unknown, in every
// order of the files.
func TestTimeOfASessionIsUnknownIfThatOfAFileIs(t *testing.T) {
	day := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		files []time.Time
		want  time.Time
	}{
		{[]time.Time{day, day.Add(time.Hour), day}, day.Add(time.Hour)},
		{[]time.Time{day, {}}, time.Time{}},
		{[]time.Time{{}, day}, time.Time{}},
		{[]time.Time{day, {}, day, day}, time.Time{}},
	} {
		var i SessionInfo
		for _, at := range c.files {
			i.add("events.jsonl", storage.Info{Size: 2, Modified: at})
		}
		if !i.Modified.Equal(c.want) || i.Files != len(c.files) || i.Bytes != int64(2*len(c.files)) {
			t.Errorf("%v: %+v, want the time, number and size of these files", c.files, i)
		}
	}
}
