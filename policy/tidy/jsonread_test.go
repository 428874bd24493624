package tidy

import (
	"reflect"
	"strings"
	"testing"
)

// Objects are of one kind if they have the same keys, in any order.
func TestObjectsWithEqualKeysAreOfOneKind(t *testing.T) {
	kind := func(text string) uint64 {
		k, end := kindOf(text, 0)
		if end != len(text) {
			t.Errorf("%s ends at %d, want %d", text, end, len(text))
		}
		return k
	}
	usual := kind(`{"a":1,"b":[2]}`)
	for text, same := range map[string]bool{
		`{"b":"x","a":{}}`: true, `{"c":1,"b":2}`: false, `{"a":1,"c":2}`: false, `{"a":1}`: false, `{}`: false, `[1]`: false,
	} {
		if got := kind(text) == usual; got != same {
			t.Errorf("%s is of the kind: %v, want %v", text, got, same)
		}
	}
	if kind("-1") != kind("22") || kind("1") == kind(`"1"`) || kind("true") == kind("null") {
		t.Error("the kinds of plain values")
	}
}

// A document is read again for each try. Its arrays are the same each time, at any depth.
func TestADocumentIsReadTheSameAgain(t *testing.T) {
	inner := "[" + strings.Repeat(`{"id":1},`, 1000) + `{"id":2}]`
	text := `{"items":` + inner + `,"n":1}`
	d := document{src: text}
	at := strings.Index(text, "[")
	for range 2 {
		for i, end := range map[int]int{0: len(text), at: at + len(inner)} {
			if got := d.read(i, end); got.end != end || !reflect.DeepEqual(got, readContainer(text, i, end)) {
				t.Errorf("%d: %d members, end %d, want the end %d", i, len(got.members), got.end, end)
			}
		}
	}
	if len(d.long) != 2 {
		t.Errorf("%d long arrays and objects are known, want 2", len(d.long))
	}
}
