package redact

import (
	"testing"
	"unsafe"
)

func TestTextSharesTheMemoryOfItsSource(t *testing.T) {
	raw := []byte(`{"content":"nothing to hide"}`)
	same := Text{string(raw)}.In(raw)
	if same.String() != string(raw) || unsafe.StringData(same.s) != &raw[0] {
		t.Errorf("%q does not lie in the memory of its source", same)
	}
	for _, source := range []string{"", `{"content":"something to hide"}`, `{"content":"nothing to hide"} `} {
		if got := (Text{string(raw)}).In([]byte(source)); got.String() != string(raw) {
			t.Errorf("in the memory of %q it reads %q", source, got)
		}
	}
	if got := (Text{}).In(raw); got.String() != "" {
		t.Errorf("the empty text becomes %q", got)
	}
}
