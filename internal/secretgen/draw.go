package secretgen

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"net/url"
	"strings"
	"unicode/utf16"
)

// Sample is a shape with its holes filled.
type Sample struct {
	Text    string
	Secrets []string // as in the text, in order
}

// Draw fills the holes with values drawn from a seed. The same seed gives the same
// text, and other seeds give other values.
func (s Shape) Draw(seed uint64) Sample {
	d := drawer{Rand: rand.New(rand.NewPCG(seed, hash(s.ID()))), known: map[string]string{}}
	d.fill(s.text)
	return Sample{Text: d.out.String(), Secrets: d.secrets}
}

// drawer fills one shape.
type drawer struct {
	*rand.Rand
	out     strings.Builder
	secrets []string
	known   map[string]string // values by their tag
}

func (d *drawer) fill(text string) {
	for {
		i := strings.IndexAny(text, "«‹")
		if i < 0 {
			d.out.WriteString(text)
			return
		}
		d.out.WriteString(text[:i])
		secret := strings.HasPrefix(text[i:], "«")
		end := "›"
		if secret {
			end = "»"
		}
		_, rest, _ := strings.Cut(text[i:], map[bool]string{true: "«", false: "‹"}[secret])
		hole, rest, found := strings.Cut(rest, end)
		if !found {
			panic("secretgen: a hole is not closed: " + text)
		}
		value := d.hole(hole)
		if secret {
			d.secrets = append(d.secrets, value)
		}
		d.out.WriteString(value)
		text = rest
	}
}

// hole draws the text for a hole: kind, kind#tag, #tag, or text with {kind} in it. A
// |form after it sets its notation.
func (d *drawer) hole(hole string) string {
	body, form, _ := strings.Cut(hole, "|")
	if strings.Contains(body, "{") {
		return write(d.compose(body), form)
	}
	kind, tag, tagged := strings.Cut(body, "#")
	if kind == "" {
		return d.known[tag]
	}
	value := d.value(kind)
	if tagged {
		d.known[tag] = value
	}
	return write(value, form)
}

// compose fills a text with {kind} in it.
func (d *drawer) compose(body string) string {
	var b strings.Builder
	body = strings.ReplaceAll(body, `\n`, "\n")
	for body != "" {
		i := strings.IndexByte(body, '{')
		if i < 0 {
			b.WriteString(body)
			break
		}
		b.WriteString(body[:i])
		kind, rest, closed := strings.Cut(body[i+1:], "}")
		if !closed || !isKind(kind) {
			b.WriteByte('{')
			body = body[i+1:]
			continue
		}
		b.WriteString(d.value(kind))
		body = rest
	}
	return b.String()
}

// write writes a value in one of the notations that programs use.
func write(s, form string) string {
	switch form {
	case "b64":
		return base64.StdEncoding.EncodeToString([]byte(s))
	case "b64f":
		return fold(base64.StdEncoding.EncodeToString([]byte(s)), 64)
	case "u16b64":
		var raw []byte
		for _, u := range utf16.Encode([]rune(s)) {
			raw = binary.LittleEndian.AppendUint16(raw, u)
		}
		return base64.StdEncoding.EncodeToString(raw)
	case "url":
		return url.QueryEscape(s)
	case "zw":
		return s[:4] + "\u200b" + s[4:]
	}
	return s
}

func fold(s string, width int) string {
	var lines []string
	for len(s) > width {
		lines, s = append(lines, s[:width]), s[width:]
	}
	return strings.Join(append(lines, s), "\n")
}
