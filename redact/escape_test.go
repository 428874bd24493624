package redact

import "testing"

func TestOffsetsInsideOfAnEscapeAreItsEnds(t *testing.T) {
	raw := `a\u00e9\ud83d\ude00\n"b`[:22]
	for _, c := range []struct {
		to   int
		up   bool
		want int
	}{{0, false, 0}, {1, false, 1}, {2, false, 1}, {2, true, 7}, {3, false, 7}, {4, false, 7}, {4, true, 19}, {7, false, 19}, {8, false, 21}, {8, true, 21}} {
		cur := cursor{raw: raw, by: &inJSON, base: 100}
		if got := cur.offset(c.to, c.up) - 100; got != c.want {
			t.Errorf("offset(%d, %v) = %d, want %d", c.to, c.up, got, c.want)
		}
	}
}

func TestEscapesAreDecodedAsEncodingJSONDoes(t *testing.T) {
	for raw, want := range map[string]string{
		`\"\\\/\b\f\n\r\t`: "\"\\/\b\f\n\r\t", `\u00E9\u20ac`: "é€", `\ud83d\ude00`: "😀", `\ud83dx`: "\ufffdx", `\ud83d\u0041`: "\ufffdA", `plain`: "plain",
	} {
		w := walker{s: raw}
		if got := w.decoded(literal{to: len(raw), escaped: true}); got != want {
			t.Errorf("decoded(%s) = %q, want %q", raw, got, want)
		}
	}
	for _, bad := range []string{`\`, `\x`, `\u12`, `\u12g4`, `\'`} {
		if n := escapeLength(bad); n != 0 {
			t.Errorf("escapeLength(%s) = %d, want 0", bad, n)
		}
	}
}
