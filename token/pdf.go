package token

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"

	"github.com/agentcompact/compact/message"
)

// pdfStart is how a PDF begins in base64: %PDF-.
const pdfStart = "JVBERi0"

// How much of the packed objects of one PDF is looked at, in bytes.
const (
	maxInflated = 16 << 20
	maxDeflated = maxInflated / 4 // empty blocks take time, too
	maxHeader   = 400             // from their type to their stream
)

// What an object in a PDF says that it is.
const (
	page          = "/Page"
	packedObjects = "/ObjStm"
)

// pdfOf returns the PDF that a file holds in base64, on whatever wire, and how many bytes
// behind it could not be decoded; nil: it holds none, or is a text that one may stand in.
func pdfOf(p *message.Part) (pdf []byte, lost int) {
	if isText(p.Media.MIME) {
		return nil, 0
	}
	if at := strings.Index(p.Media.URL, pdfStart); at >= 0 {
		return decodeBase64(p.Media.URL[at:])
	}
	if at := bytes.Index(p.Args, []byte(pdfStart)); at >= 0 {
		return decodeBase64(unescaped(p.Args[at:]))
	}
	return nil, 0
}

// unescaped returns what stands before the closing quote of a JSON string.
func unescaped(data []byte) string {
	end := 0
	for end < len(data) && data[end] != '"' {
		if data[end] == '\\' {
			end++
		}
		end++
	}
	data = data[:min(end, len(data))]
	if bytes.IndexByte(data, '\\') < 0 {
		return string(data)
	}
	var s string
	if json.Unmarshal([]byte(`"`+string(data)+`"`), &s) != nil {
		return string(data) // what can't be decoded of it counts as lost
	}
	return s
}

// decodeBase64 stops at what is no base64, and returns the size of the rest, too. White
// space does not count, and the alphabet of URLs, which Google's clients write, is as good.
func decodeBase64(s string) (data []byte, lost int) {
	code := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n':
		case '-':
			code = append(code, '+')
		case '_':
			code = append(code, '/')
		default:
			code = append(code, c)
		}
	}
	code = bytes.TrimRight(code, "=")
	n, _ := base64.RawStdEncoding.Decode(code, code) // what was decoded before an error counts
	return code[:n], max(0, base64.RawStdEncoding.DecodedLen(len(code))-n)
}

// pdfPages counts the page objects of a PDF, packed ones among them, up to maxPages; 0:
// none can be read, as in one that is encrypted.
func pdfPages(pdf []byte) int {
	n := countPages(pdf)
	u := unpacker{in: min(len(pdf), maxDeflated), out: maxInflated}
	for range maxPages {
		at := packedStream(pdf)
		if at < 0 || u.in <= 0 || u.out <= 0 || n >= maxPages {
			break
		}
		pdf = pdf[at:]
		n += countPages(u.unpack(pdf))
	}
	return min(n, maxPages)
}

func countPages(objects []byte) (pages int) {
	for pages < maxPages {
		at := behindType(objects, page)
		if at < 0 {
			break
		}
		objects = objects[at:]
		pages++
	}
	return pages
}

// behindType returns the offset behind the next /Type that has this name, white space
// between them or none; -1: there is none. It is no regular expression: those take
// seconds for a file that is made for them.
func behindType(pdf []byte, name string) int {
	const key, space = "/Type", "\t\n\f\r "
	for rest := pdf; ; {
		at := bytes.Index(rest, []byte(key))
		if at < 0 {
			return -1
		}
		rest = bytes.TrimLeft(rest[at+len(key):], space)
		if behind, ok := bytes.CutPrefix(rest, []byte(name)); ok && !inWord(behind) {
			return len(pdf) - len(behind)
		}
	}
}

// inWord reports whether a name goes on: /Pages is no /Page.
func inWord(rest []byte) bool {
	if len(rest) == 0 {
		return false
	}
	c := rest[0]
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// packedStream returns where the stream of the next packed objects begins; -1: there is
// none.
func packedStream(pdf []byte) int {
	const keyword = "stream"
	for rest := pdf; ; {
		at := behindType(rest, packedObjects)
		if at < 0 {
			return -1
		}
		rest = rest[at:]
		if i := bytes.Index(rest[:min(maxHeader, len(rest))], []byte(keyword)); i >= 0 {
			stream := bytes.TrimPrefix(rest[i+len(keyword):], []byte("\r"))
			return len(pdf) - len(bytes.TrimPrefix(stream, []byte("\n")))
		}
	}
}

// An unpacker bounds what is read and what is written for all streams of a PDF: streams
// may overlap, and a stream may be long without holding anything.
type unpacker struct{ in, out int }

func (u *unpacker) unpack(stream []byte) []byte {
	in := bytes.NewReader(stream[:min(u.in, len(stream))])
	defer func() { u.in -= int(in.Size()) - in.Len() }()
	r, err := zlib.NewReader(in)
	if err != nil {
		return nil
	}
	objects, _ := io.ReadAll(io.LimitReader(r, int64(u.out))) // what came before an error counts
	u.out -= len(objects)
	return objects
}
