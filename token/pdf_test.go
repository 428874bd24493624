package token

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// pdf returns a file with a number of page objects, plain or packed, and a number
// of bytes after them.
func pdf(pages int, packed bool, more int) string {
	var objects strings.Builder
	for i := range pages {
		fmt.Fprintf(&objects, "%d 0 obj\n<< /Type /Page /Parent 1 0 R >>\nendobj\n", i+3)
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n1 0 obj\n<</Type/Pages/Count 9>>\nendobj\n")
	if packed {
		b.WriteString("2 0 obj\n<< /Type /ObjStm /DecodeParms << /Columns 4 >> /Filter /FlateDecode >>\nstream\n")
		w := zlib.NewWriter(&b)
		_, _ = w.Write([]byte(objects.String()))
		_ = w.Close()
		b.WriteString("\nendstream\n")
	} else {
		b.WriteString(objects.String())
	}
	b.WriteString(strings.Repeat("x", more))
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func TestAPDFIsCountedByItsPages(t *testing.T) {
	twelve, packed, shut := pdf(12, false, 0), pdf(12, true, 0), pdf(0, false, 95_000)
	source := `{"type":"base64","media_type":"application/pdf","data":"%s"}`
	for _, c := range []struct {
		name string
		part message.Part
		want map[string]int
	}{
		{"Anthropic", message.Part{Args: fmt.Appendf(nil, source, twelve)}, map[string]int{"claude-sonnet-4-5": 12 * (3000 + 1496)}},
		{"packed", message.Part{Args: fmt.Appendf(nil, source, packed)}, map[string]int{"claude-sonnet-4-5": 12 * (3000 + 1496)}},
		{"Chat", message.Part{Args: fmt.Appendf(nil, `{"type":"file","file":{"file_data":"data:application/pdf;base64,%s"}}`, twelve)}, map[string]int{"gpt-4o": 12 * (3000 + 765)}},
		{"Responses", message.Part{Media: &message.Media{URL: "data:application/pdf;base64," + twelve}}, map[string]int{"gpt-4o": 12 * (3000 + 765)}},
		{"Gemini", message.Part{Args: fmt.Appendf(nil, `{"mimeType":"application/pdf","data":"%s"}`, twelve)}, map[string]int{"gemini-2.5-pro": 12 * 258, "gemini-3-pro": 12 * 560}},
		{"no page can be read", message.Part{Args: fmt.Appendf(nil, source, shut)}, map[string]int{"gemini-2.5-pro": 10 * 258}},
		{"no PDF", message.Part{Args: []byte(`{"data":"AAAA"}`)}, map[string]int{"gemini-2.5-pro": pageTokens}},
	} {
		for model, want := range c.want {
			p := c.part
			p.Kind = message.KindFile
			if got := mediaFor(model).cost(&p); got != want {
				t.Errorf("%s, %s: %d tokens, want %d", c.name, model, got, want)
			}
		}
	}
}

// A file that is not a PDF after its first bytes, or is truncated, causes no error. A
// small file that would unpack to a large one is not unpacked completely.
func TestAHostilePDFIsBounded(t *testing.T) {
	var bomb bytes.Buffer
	bomb.WriteString("%PDF-1.7\n<< /Type /ObjStm >>\nstream\n")
	w := zlib.NewWriter(&bomb)
	_, _ = w.Write(make([]byte, maxInflated))
	_, _ = w.Write([]byte("/Type /Page "))
	_ = w.Close()
	if n := pdfPages(bomb.Bytes()); n != 0 {
		t.Errorf("%d pages were found beyond the limit of unpacked bytes", n)
	}
	for behind, pages := range map[string]int{" ": 1, "/Parent": 1, ">>": 1, "": 1, "s": 0, "_": 0, "0": 0, "9": 0, "A": 0, "Z": 0, "a": 0, "z": 0} {
		if n := pdfPages([]byte("<</Type/Page" + behind)); n != pages {
			t.Errorf("/Page and %q: %d pages, want %d", behind, n, pages)
		}
	}
	if n := pdfPages(bytes.Repeat([]byte("/Type /Page "), 2*maxPages)); n != maxPages {
		t.Errorf("%d pages, want the limit of %d", n, maxPages)
	}
	for _, s := range []string{"", "%PDF-", "%PDF-1.7\n<< /Type /ObjStm >>\nstream\nno zlib", "%PDF-1.7\n<< /Type /ObjStm >>\nstream\n\x78\x9c\x00"} {
		if n := pdfPages([]byte(s)); n != 0 {
			t.Errorf("%q: %d pages", s, n)
		}
	}
}
