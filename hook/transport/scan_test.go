package transport

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// writeJSON writes a random JSON document with names that the scanner knows, with other
// names, and with texts that look like JSON.
func writeJSON(rnd *rand.Rand, depth int, b *strings.Builder) {
	pad := func() { b.WriteString(strings.Repeat(" ", rnd.IntN(2))) }
	texts := []string{`""`, `"usage"`, `"{\"usage\":{\"input_tokens\":7}}"`, `"a\\"`, `"\\\""`, `"ä\n5"`, `"input_tokens"`, `"x"`}
	keys := []string{`"usage"`, `"input_tokens"`, `"message"`, `"prompt_tokens_details"`, `"cached_tokens"`, `"other"`, `"us\u0061ge"`, `"usages"`, `"iterations"`, `"` + strings.Repeat("k", 60) + `"`}
	numbers := []string{"0", "7", "12", "123456789012345", "1234567890123456", "-3", "1.5", "2e3", "4E+2"}
	kind := rnd.IntN(6)
	if depth == 0 {
		kind = 5
	}
	switch {
	case kind == 0:
		b.WriteString([]string{"true", "false", "null"}[rnd.IntN(3)])
	case kind == 1:
		b.WriteString(texts[rnd.IntN(len(texts))])
	case kind == 2 || depth > 8:
		b.WriteString(numbers[rnd.IntN(len(numbers))])
	case kind == 3:
		b.WriteByte('[')
		for i := range rnd.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			pad()
			writeJSON(rnd, depth+1, b)
			pad()
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		for i := range rnd.IntN(5) {
			if i > 0 {
				b.WriteByte(',')
			}
			pad()
			b.WriteString(keys[rnd.IntN(len(keys))])
			pad()
			b.WriteByte(':')
			pad()
			writeJSON(rnd, depth+1, b)
			pad()
		}
		b.WriteByte('}')
	}
}

// numbersIn lists the numbers that the scanner must report, found with encoding/json.
func numbersIn(t *testing.T, text string) (out []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var value func(path []string, depth int, inObject bool)
	value = func(path []string, depth int, inObject bool) {
		tok, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch tok := tok.(type) {
		case json.Number:
			n, err := strconv.Atoi(string(tok))
			if err == nil && n >= 0 && len(tok) <= 15 && inObject && depth <= maxDepth && !slices.Contains(path, "") {
				out = append(out, fmt.Sprintf("%s=%d", strings.Join(path, "."), n))
			}
		case json.Delim:
			for d.More() {
				if tok == '[' {
					value(path, depth+1, false)
					continue
				}
				before := d.InputOffset()
				key, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				name := names[key.(string)]
				if strings.Contains(text[before:d.InputOffset()], `\`) {
					name = ""
				}
				value(append(path[:len(path):len(path)], name), depth+1, true)
			}
			if _, err := d.Token(); err != nil {
				t.Fatal(err)
			}
		}
	}
	value(nil, 0, false)
	return out
}

func TestNumbersOfADocumentDoNotDependOnItsPieces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 8000 {
		var b strings.Builder
		writeJSON(rnd, 0, &b)
		text := b.String()
		var got []string
		s := &scanner{number: func(path string, n int) { got = append(got, fmt.Sprintf("%s=%d", path, n)) }}
		s.feed([]byte(`{"usage":{"input_tokens":1`)) // a stream that broke off
		s.reset()
		for rest := []byte(text); len(rest) > 0; {
			n := 1 + rnd.IntN(min(len(rest), 9))
			s.feed(rest[:n])
			rest = rest[n:]
		}
		want := numbersIn(t, text)
		found += len(want)
		if !slices.Equal(got, want) {
			t.Fatalf("the numbers are %v, want %v in\n%s", got, want, text)
		}
	}
	if found < 1000 {
		t.Errorf("the documents have only %d numbers, want at least 1000", found)
	}
}
