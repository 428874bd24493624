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

// pdfStart is the start of a PDF in base64: %PDF-.
const pdfStart = "JVBERi0"

// The maximum amount of packed objects of one PDF that is examined, in bytes.
const (
	maxInflated = 16 << 20
	maxDeflated = maxInflated / 4 // even empty blocks take time
	maxHeader   = 400             // from the type of packed objects to their stream
)

// The types of objects in a PDF.
const (
	page          = "/Page"
	packedObjects = "/ObjStm"
)

// pdfOf returns the PDF that a file part holds in base64, in any message format,
// and the number of bytes after it that could not be decoded. pdf is nil if there
// is none, or if the file is a text that quotes a PDF.
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

// unescaped returns the text before the closing quote of a JSON string.
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
		return string(data) // the part that can't be decoded counts as lost
	}
	return s
}

// decodeBase64 decodes s up to the first byte that is not base64, and returns the
// size of the rest. It ignores white space and accepts the URL alphabet, which
// Google's clients write.
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
	n, _ := base64.RawStdEncoding.Decode(code, code) // the bytes decoded before an error count
	return code[:n], max(0, base64.RawStdEncoding.DecodedLen(len(code))-n)
}

// pdfPages returns the number of page objects of a PDF, including packed ones, up to
// maxPages. It returns 0 if no page can be read, for example in an encrypted PDF.
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

// behindType returns the offset after the next /Type with this name, with or
// without white space between them, or -1 if there is none. It does not use
// regular expressions, because they take seconds for a malicious file.
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

// inWord reports whether a name continues: /Pages is not /Page.
func inWord(rest []byte) bool {
	if len(rest) == 0 {
		return false
	}
	c := rest[0]
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// packedStream returns the start of the next stream of packed objects, or -1.
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

// An unpacker bounds the bytes read and written for all streams of a PDF
// together, because streams may overlap, and a long stream may hold nothing.
type unpacker struct{ in, out int }

func (u *unpacker) unpack(stream []byte) []byte {
	in := bytes.NewReader(stream[:min(u.in, len(stream))])
	defer func() { u.in -= int(in.Size()) - in.Len() }()
	r, err := zlib.NewReader(in)
	if err != nil {
		return nil
	}
	objects, _ := io.ReadAll(io.LimitReader(r, int64(u.out))) // the bytes read before an error count
	u.out -= len(objects)
	return objects
}
