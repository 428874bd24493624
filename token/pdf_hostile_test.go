package token

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/message"
)

// Counting the pages of a hostile PDF takes little more time than decoding it
// from base64. The limit is generous, because coverage slows down only the
// counting. Without bounds, the factor was in the thousands.
func TestAHostilePDFTakesTimeInProportion(t *testing.T) {
	const size, factor = 1 << 20, 200
	code := base64.StdEncoding.EncodeToString(make([]byte, size))
	usual := effort(func() { decodeBase64(code) })
	for name, hostile := range map[string][]byte{
		"headers without a stream": fill("/Type/ObjStm ", size),
		"spaces":                   fill("/Type"+strings.Repeat(" ", 43), size),
		"streams that overlap":     overlapping(maxPages, size),
		"streams that fail":        fill("/Type/ObjStm stream\n\x78\x01", size),
	} {
		took := effort(func() { pdfPages(hostile) })
		if took > factor*usual {
			t.Errorf("%s: %v, to decode it %v", name, took, usual)
		}
	}
}

func fill(piece string, size int) []byte { return bytes.Repeat([]byte(piece), size/len(piece)) }

// overlapping returns a PDF whose streams each skip the header of the next one in
// a stored block, and then all read the same tail of empty blocks.
func overlapping(streams, tail int) []byte {
	const head = "/Type/ObjStm stream\n\x78\x01"
	const skip = "\x00" + string(rune(len(head))) + "\x00"
	var b bytes.Buffer
	for i := range streams {
		b.WriteString(head)
		if i < streams-1 {
			b.WriteString(skip)
			b.Write([]byte{^byte(len(head)), 0xff})
		}
	}
	b.Write(fill("\x00\x00\x00\xff\xff", tail))
	return b.Bytes()
}

// effort returns the processor time of f, the least of a few runs.
func effort(f func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for range 3 {
		before := cputime.Used()
		f()
		least = min(least, cputime.Used()-before)
	}
	return max(least, time.Millisecond)
}

// All streams of a PDF share one budget of bytes, which is counted exactly.
func TestBytesReadFromStreamsAreCounted(t *testing.T) {
	const tail = 5_000
	stream := append([]byte("\x78\x01"), fill("\x00\x00\x00\xff\xff", tail)...)
	u := unpacker{in: 2*len(stream) + 10, out: 1}
	for _, left := range []int{len(stream) + 10, 10, 0, 0} {
		if u.unpack(stream); u.in != left {
			t.Errorf("%d bytes left, want %d", u.in, left)
		}
	}
	var page bytes.Buffer
	w, _ := flate.NewWriter(&page, flate.BestCompression)
	_, _ = w.Write([]byte(strings.Repeat("/Type /Page ", 9)))
	_ = w.Close()
	for size, want := range map[int]int{tail: 9, maxDeflated: 0} {
		long := "/Type /ObjStm stream\r\n\x78\x01" + string(fill("\x00\x00\x00\xff\xff", size)) + page.String()
		if n := pdfPages([]byte(long)); n != want {
			t.Errorf("after %d empty bytes: %d pages, want %d", size, n, want)
		}
	}
}

// In a file with many small streams, all packed objects are read.
func TestManyPackedObjectsAreCounted(t *testing.T) {
	one, err := base64.StdEncoding.DecodeString(pdf(1, true, 0))
	if err != nil {
		t.Fatal(err)
	}
	if n := pdfPages(bytes.Repeat(one, 400)); n != 400 {
		t.Errorf("%d pages, want 400", n)
	}
}

// The PDF is read to its end, however its base64 is written and escaped in JSON.
func TestAPDFIsReadHoweverItIsEscaped(t *testing.T) {
	file := []byte("%PDF-1.4\n" + strings.Repeat("<</Type /Page>> \xff\xff\xff\xff\xff\xff\xfb\xef\xbe\n", 300))
	plain := base64.StdEncoding.EncodeToString(file)
	for name, data := range map[string]string{
		"plain":      plain,
		"PHP":        strings.ReplaceAll(plain, "/", `\/`),
		"NET":        strings.ReplaceAll(plain, "+", `\u002B`),
		"URL":        base64.URLEncoding.EncodeToString(file),
		"no padding": base64.RawURLEncoding.EncodeToString(file),
		"MIME":       wrapped(plain, `\r\n`),
		"indented":   wrapped(plain, `\n\t  `),
	} {
		args := fmt.Sprintf(`{"media_type":"application/pdf","data":"%s","title":"a"}`, data)
		if got, want := costOf("application/pdf", args), 300*(3000+1496); got != want {
			t.Errorf("%s: %d tokens, want %d", name, got, want)
		}
	}
	url := message.Part{Kind: message.KindFile, Media: &message.Media{URL: "data:application/pdf;base64," + wrapped(plain, "\r\n")}}
	if got, want := mediaFor("claude-sonnet-4-5").cost(&url), 300*(3000+1496); got != want {
		t.Errorf("in a URL: %d tokens, want %d", got, want)
	}
}

func wrapped(s, end string) string {
	var b strings.Builder
	for len(s) > 76 {
		b.WriteString(s[:76] + end)
		s = s[76:]
	}
	return b.String() + s
}

// The part of a PDF that can't be decoded costs by its length.
func TestThePartOfAPDFThatCantBeDecodedCosts(t *testing.T) {
	two := pdf(2, false, 0)
	for _, broken := range []string{"=", "*", `\u0000`} {
		args := `{"data":"` + strings.TrimRight(two, "=") + broken + strings.Repeat("A", 400_000) + `"}`
		if got, pages := costOf("application/pdf", args), 2+30; got < pages*(3000+1496) || got > (pages+2)*(3000+1496) {
			t.Errorf("%q: %d tokens, want those of about %d pages", broken, got, pages)
		}
	}
	for _, end := range []string{"", `\`, `\"`} {
		if got, want := costOf("application/pdf", `{"data":"`+two+end), 2*(3000+1496); got < want {
			t.Errorf("a string that ends with %q: %d tokens, want %d", end, got, want)
		}
	}
}

// A text that quotes a PDF is not a PDF: a mail costs as much as its words.
func TestTextThatQuotesAPDFCountsAsText(t *testing.T) {
	lines := strings.Repeat(strings.Repeat("A", 76)+`\r\n`, 10_000)
	mail := func(attached string) string {
		return `{"type":"text","data":"Content-Type: application/pdf\r\n\r\n` + attached + lines + `"}`
	}
	with, without := mail(base64.StdEncoding.EncodeToString([]byte("%PDF-1.4\nabc"))+`\r\n`), mail("")
	for _, mime := range []string{"text/plain", "text/html; charset=utf-8", "Text/Plain", "application/json", "application/json; charset=utf-8"} {
		if got, want := costOf(mime, with), costOf(mime, without); got < want || want < len(lines)/6 {
			t.Errorf("%s: %d tokens, %d without the PDF", mime, got, want)
		}
	}
}

func costOf(mime, args string) int {
	p := message.Part{Kind: message.KindFile, Args: []byte(args), Media: &message.Media{MIME: mime, Bytes: len(args)}}
	return mediaFor("claude-sonnet-4-5").cost(&p)
}
