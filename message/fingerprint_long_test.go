package message

import (
	"crypto/sha256"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
)

// Long texts are hashed without a copy, or in pieces. The hash must equal the hash of
// the whole text, because archives contain fingerprints.
func TestFingerprintsOfLongTexts(t *testing.T) {
	field := func(b []byte, s string) []byte {
		return append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	for _, n := range []int{0, 1, 200, 511, 512, 513, longText - 1, longText, longText + 1, 5_000, 70_000} {
		text, args := strings.Repeat("é", n/2)+"x", `{"a":"`+strings.Repeat("b", n)+`"}`
		m := Message{Role: RoleAssistant, Name: "n", Parts: []Part{
			{Kind: KindText, Text: text}, {Kind: KindToolCall, Name: "f", Args: []byte(args[:5] + " \t\r\n" + args[5:])}, {Kind: KindText, Text: "end"},
		}}
		want := field(field(nil, "assistant"), "n")
		want = field(append(want, byte(KindText)), text)
		want = field(field(append(want, byte(KindToolCall)), ""), "f")
		want = append(want, args...)
		want = binary.AppendUvarint(want, uint64(len(args)))
		want = field(append(want, byte(KindText)), "end")
		sum := sha256.Sum256(want)
		if got := m.Fingerprint(); got != Fingerprint(sum[:16]) {
			t.Errorf("texts of %d bytes: fingerprint %s, want %x", n, got, sum[:16])
		}
	}
}

// A long text is hashed without a copy.
func TestFingerprintCopiesNoLongText(t *testing.T) {
	p := Part{Kind: KindToolResult, Text: strings.Repeat("x", 1<<20)}
	if allocs := testing.AllocsPerRun(50, func() { p.Fingerprint() }); allocs > 2 { // the buffer, and sometimes a hash
		t.Errorf("%v allocations, want at most 2", allocs)
	}
	for name, p := range map[string]Part{"a text": p, "arguments": {Kind: KindToolCall, Args: []byte(`{"a":"` + p.Text + `"}`)}} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.Fingerprint()
		if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<18 {
			t.Errorf("%s of a megabyte: %d bytes allocated", name, after.TotalAlloc-before.TotalAlloc)
		}
	}
}

// A message that a constructor or a codec made knows its fingerprint after the first time.
func TestFingerprintIsComputedOnce(t *testing.T) {
	named := User("x")
	named.Name = "n"
	for name, m := range map[string]Message{
		"made": named, "copied": named.Copy(), "of a wire": FromWire(Message{Role: RoleUser, Parts: []Part{{Text: "x"}}}, "w", []byte(`"x"`), []Span{{End: 3}}),
	} {
		if allocs := testing.AllocsPerRun(5, func() { m.Fingerprint() }); allocs != 0 {
			t.Errorf("%s: %v allocations, want none after the first time", name, allocs)
		}
	}
}

// BenchmarkFingerprintOfALongText allocates a buffer, not the text.
func BenchmarkFingerprintOfALongText(b *testing.B) {
	p := Part{Kind: KindToolResult, Text: strings.Repeat("x", 1<<20)}
	b.ReportAllocs()
	for b.Loop() {
		p.Fingerprint()
	}
}
