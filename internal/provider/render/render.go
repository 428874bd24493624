// Package render writes one chat session as the requests that agents of four
// providers would send for it, for tests. It uses only encoding/json and no
// codec of this module, because the code under test must not write its own
// input. Errors in a session, such as results without calls, stay as they are.
//
// The same session and seed give the same bytes. The seed decides the details
// in which agents differ: string or blocks, ids or none, thinking or none, the
// positions of cache breakpoints, the layout of the JSON.
package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/provider"
)

// A Row is one message of a chat session.
type Row = map[string]any

// Rows reads a session in JSONL.
func Rows(jsonl []byte) ([]Row, error) {
	d := json.NewDecoder(bytes.NewReader(jsonl))
	d.UseNumber()
	var rows []Row
	for d.More() {
		var r Row
		if err := d.Decode(&r); err != nil {
			return nil, fmt.Errorf("render: row %d: %w", len(rows), err)
		}
		delete(r, "meta")
		rows = append(rows, r)
	}
	return rows, nil
}

// A Session is a chat session on one wire.
type Session struct {
	wire  provider.Wire
	seed  uint64
	rows  []Row
	tools []string
}

// New returns a session on a wire. The rows are kept and must not be modified.
func New(w provider.Wire, seed uint64, rows []Row) *Session {
	s := &Session{wire: w, seed: seed, rows: rows}
	for _, r := range rows {
		for _, c := range callsOf(r) {
			if len(s.tools) < 12 && !slices.Contains(s.tools, c.name) {
				s.tools = append(s.tools, c.name)
			}
		}
	}
	return s
}

// Cuts returns the numbers of rows after which the model was called: before each answer
// of the session, and at its end if the session does not end with an answer.
func (s *Session) Cuts() []int {
	var out []int
	for i := 1; i <= len(s.rows); i++ {
		if role(s.rows[i-1]) == "assistant" || i < len(s.rows) && role(s.rows[i]) != "assistant" {
			continue
		}
		if hasMessages(s.rows[:i]) {
			out = append(out, i)
		}
	}
	return out
}

// hasMessages reports whether there is a message that is not the system's. Blank messages
// of the user don't count.
func hasMessages(rows []Row) bool {
	for _, r := range rows {
		if !instructs(r) && (role(r) != "user" || !blank(r)) {
			return true
		}
	}
	return false
}

// Body returns the request for the first n rows.
func (s *Session) Body(n int) []byte {
	body := s.envelope(s.rows[:n])
	body[s.list()] = s.items(0, n)
	s.mark(body)
	return s.encode(body)
}

// Extend returns the next request of an agent that keeps an edited history:
// body, the edited request for the first from rows, with the rows [from, to)
// added.
func (s *Session) Extend(body []byte, from, to int) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var o object
	if err := d.Decode(&o); err != nil {
		return nil, fmt.Errorf("render: the body to extend: %w", err)
	}
	items, ok := o[s.list()].([]any)
	if !ok {
		return nil, fmt.Errorf("render: the body to extend has no list %s", s.list())
	}
	o[s.list()] = append(items, s.items(from, to)...)
	s.mark(o)
	return s.encode(o), nil
}

// list returns the name of the list that holds the conversation.
func (s *Session) list() string {
	return map[provider.Wire]string{provider.Chat: "messages", provider.Responses: "input", provider.Anthropic: "messages", provider.Gemini: "contents"}[s.wire]
}

// envelope returns the fields of a request other than its conversation.
func (s *Session) envelope(rows []Row) object {
	switch s.wire {
	case provider.Chat:
		return s.chatEnvelope()
	case provider.Responses:
		return s.responsesEnvelope(rows)
	case provider.Anthropic:
		return s.anthropicEnvelope(rows)
	default:
		return s.geminiEnvelope(rows)
	}
}

// items returns the rows [from, to) as items of the wire. Both bounds are before
// an answer, or at an end of the session.
func (s *Session) items(from, to int) []any {
	switch s.wire {
	case provider.Chat:
		return s.chatItems(from, to)
	case provider.Responses:
		return s.responsesItems(from, to)
	case provider.Anthropic:
		return s.anthropicItems(from, to)
	default:
		return s.geminiItems(from, to)
	}
}

// encode writes a body in this agent's JSON layout.
func (s *Session) encode(body object) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(s.chance("escape", 0, 3))
	if s.chance("indent", 0, 4) {
		e.SetIndent("", "  ")
	}
	if err := e.Encode(body); err != nil {
		panic("render: " + err.Error()) // can't happen: every row can be encoded
	}
	return b.Bytes()
}

type object = map[string]any

// roll returns a number that depends on the seed, a name and a row.
func (s *Session) roll(name string, row int) uint64 {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s %d", s.seed, name, row))
	return binary.LittleEndian.Uint64(h[:])
}

// chance returns true with a probability of 1/n, always the same for a seed, a
// name and a row.
func (s *Session) chance(name string, row, n int) bool { return s.roll(name, row)%uint64(n) == 0 }

// seal returns a stand-in for a signature or encrypted text of a row. It is
// opaque, and no two are the same.
func (s *Session) seal(name string, row int) string {
	var raw []byte
	for k := range 1 + s.roll(name+" length", row)%12 {
		h := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d", s.seed, name, row, k))
		raw = append(raw, h[:]...)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// id returns an id as a provider gives it to an item of a row.
func (s *Session) id(prefix string, row, k int) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%d %s %d %d", s.seed, prefix, row, k))
	return prefix + hex.EncodeToString(h[:12])
}

var notName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

// name converts a text to a valid id or function name of at most 64 characters.
func name(s string) string {
	s = notName.ReplaceAllString(s, "_")
	return s[:min(len(s), 64)]
}

func blank(r Row) bool {
	return strings.TrimSpace(textOf(r)) == "" && len(mediaOf(r)) == 0 && len(callsOf(r)) == 0
}
