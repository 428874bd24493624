package record

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// full returns a record with a value in every field.
func full(t *testing.T) record {
	f := fileHash{"a.json", 7, "h"}
	r := record{
		Op: opScrub, At: time.Date(2026, 3, 4, 5, 6, 7, 8e6, time.UTC), fileHash: f, Lines: 3, Step: 4, With: []fileHash{f, {}}, Reason: "why \"<\n", Who: "x",
		Scrubbed: []rehash{{f, "w", true}, {}}, Scrub: "id", By: "p", Lease: -5,
	}
	for i := range reflect.TypeFor[record]().NumField() {
		if reflect.ValueOf(r).Field(i).IsZero() {
			t.Errorf("no value for %s", reflect.TypeFor[record]().Field(i).Name)
		}
	}
	return r
}

func TestRecordsAreParsedWithoutReflection(t *testing.T) {
	for _, want := range []record{full(t), {}, {Op: opPut, fileHash: fileHash{Name: "\u2028é"}}} {
		var got record
		var from jsonscan.Record
		from.Reset([]byte(want.body()))
		if got.read(&from); !from.Done() {
			t.Errorf("it is left to encoding/json: %s", want.body())
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("read as\n%+v\nnot\n%+v", got, want)
		}
	}
}

// Lines in another form, as another program or a disk makes them, are parsed as by
// encoding/json.
func TestRecordsInAnotherFormAreParsed(t *testing.T) {
	line := full(t).body()
	for _, text := range []string{
		line, line[:len(line)-1], line + " ", line + "x", "", "null", "{}", "[]",
		`{"at":"2026-03-04T05:06:07Z","op":"put","bytes":1,"new":{"x":1}}`,
		`{"op":"put","at":"2026-03-04T05:06:07Z","bytes":1,"Name":"b"}`,
		`{ "op":"put","at":"2026-03-04T05:06:07+02:00","bytes":1}`,
		`{"op":"put","at":"yesterday","bytes":1}`,
		`{"op":"put","at":"2026-03-04T05:06:07Z","bytes":1.5}`,
		`{"op":"put","op":"mark","bytes":1}`,
		`{"op":"commit","at":"2026-03-04T05:06:07Z","bytes":0,"with":null}`,
		`{"op":"commit","at":"2026-03-04T05:06:07Z","bytes":0,"with":[]}`,
		`{"op":"","bytes":1}`,
	} {
		var want record
		ok := json.Unmarshal([]byte(text), &want) == nil && want.Op != ""
		if !ok {
			want = record{}
		}
		if got, parsed := parseRecord([]byte(text)); parsed != ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %v\n%+v\nnot %v\n%+v", text, parsed, got, ok, want)
		}
	}
}
