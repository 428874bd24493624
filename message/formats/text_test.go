package formats

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// A text has the bytes of the file, whichever parts of the file are copied into the body.
func TestTextEqualsTheFile(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	shared := 0
	for range 200 {
		data := make([]byte, 1+r.IntN(20_000))
		for i := range data {
			data[i] = byte(r.IntN(256))
		}
		var body []byte
		var copied []piece
		for at := r.IntN(3); at < len(data); at += r.IntN(5) {
			n := min(r.IntN(2000), len(data)-at)
			body = append(body, ',')
			copied = append(copied, piece{len(body), at, n, len(copied)})
			body = append(body, data[at:at+n]...)
			at += n
		}
		file := bytes.Clone(data)
		x := newText(file, body, copied)
		if x.Len() != len(data) || !bytes.Equal(x.of(jsonscan.Span{End: len(data)}), data) {
			t.Fatalf("the text has %d bytes in %d pieces that differ from the file", x.Len(), len(copied))
		}
		for range 50 {
			from := r.IntN(len(data) + 1)
			to := from + r.IntN(len(data)-from+1)
			if !bytes.Equal(x.of(jsonscan.Span{Start: from, End: to}), data[from:to]) {
				t.Fatalf("the bytes [%d:%d) of %d differ from the file", from, to, len(data))
			}
		}
		if len(x.pieces) > 1 {
			shared++
			lets(t, &x, file)
		}
	}
	if shared < 50 {
		t.Errorf("%d texts share the memory of the body, want at least 50", shared)
	}
}

// lets fails the test if a text of several pieces keeps its file in memory: one
// byte of the text would keep the whole file.
func lets(t *testing.T, x *text, file []byte) {
	t.Helper()
	for _, p := range x.pieces {
		if len(p.bytes) > 0 && offset(file, p.bytes) >= 0 {
			t.Fatalf("%d bytes at %d keep a file of %d in memory", len(p.bytes), p.start, len(file))
		}
	}
}

// The content of a file is in memory once, apart from decoded texts: its
// strings share the bytes of the body.
func TestFileSharesTheMemoryOfTheBody(t *testing.T) {
	var data []byte
	for range 50 {
		data = append(data, `{"role":"user","content":"`...)
		data = append(append(data, bytes.Repeat([]byte("word "), 200)...), "\"}\n"...)
	}
	f, err := Read("openai", data)
	if err != nil {
		t.Fatal(err)
	}
	alone := 0
	for _, p := range f.log.file.pieces {
		if offset(f.log.body, p.bytes) < 0 {
			alone += len(p.bytes)
		}
	}
	if alone > 50 || f.log.data != nil {
		t.Errorf("%d of %d bytes are in memory a second time, want at most 50", alone, len(data))
	}
	if out, err := f.Write(f.Messages(), identityOf(len(f.Messages()))); err != nil || !bytes.Equal(out, data) {
		t.Errorf("the written file differs: %v", err)
	}
}

func identityOf(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
