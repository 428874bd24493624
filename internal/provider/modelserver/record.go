package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

// recorder writes the form of each request to a file in a folder: the fields
// that identify its agent and session, and the beginnings of its texts, without
// data of this machine.
type recorder struct {
	dir string

	mu   sync.Mutex
	next int
	ids  map[string]string
}

func newRecorder(dir string) *recorder { return &recorder{dir: dir, ids: map[string]string{}} }

// recorded is a request in a file.
type recorded struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Header map[string]string `json:"header"`
	Body   json.RawMessage   `json:"body,omitempty"`
}

// headers matches the headers that are written.
var headers = regexp.MustCompile(`(?i)^(x-.*(session|agent|thread|codex|app|privileged|subagent).*|session.id|thread-id|originator|user-agent|openai-beta)$`)

// request reads the body of a request, writes the form of the request, and
// returns the body.
func (r *recorder) request(q *http.Request) ([]byte, error) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := recorded{Method: q.Method, Path: q.URL.Path, Header: map[string]string{}}
	for name := range q.Header {
		if headers.MatchString(name) {
			out.Header[name] = r.plain(q.Header.Get(name))
		}
	}
	var all any
	if json.Unmarshal(body, &all) == nil {
		if out.Body, err = marshal(r.form(all)); err != nil {
			return nil, err
		}
	}
	b, err := marshal(out)
	if err != nil {
		return nil, err
	}
	r.next++
	return body, os.WriteFile(filepath.Join(r.dir, fmt.Sprintf("%03d.json", r.next)), b, 0o600)
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// maxText is the maximum length of a text that is written, in bytes.
const maxText = 60

// form returns a value with its texts shortened and its tools by name only.
func (r *recorder) form(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if text, ok := member.(string); ok && inJSON.MatchString(text) {
				v[name] = r.plain(text)
				continue
			}
			switch name {
			case "description", "parameters", "input_schema", "parametersJsonSchema", "format", "arguments", "args":
				delete(v, name)
			default:
				v[name] = r.form(member)
			}
		}
	case []any:
		for i := range v {
			v[i] = r.form(v[i])
		}
	case string:
		return strings.ToValidUTF8(r.plain(v)[:min(len(r.plain(v)), maxText)], "")
	}
	return v
}

var (
	inJSON = regexp.MustCompile(`^\{".*\}$`)
	path   = regexp.MustCompile(`/(?:tmp|home|work|var|root/\.)[-./\w]*`) // other paths below /root are names of Codex agents
	id     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|ses_[0-9A-Za-z]{8,}|\b[0-9a-f]{16,}\b|\b1[0-9]{12}\b`)
)

// plain returns a text with paths and ids replaced. The same id always gets the
// same replacement.
func (r *recorder) plain(text string) string {
	text = path.ReplaceAllString(text, "/home/me/project")
	return id.ReplaceAllStringFunc(text, func(was string) string {
		if r.ids[was] == "" {
			n := len(r.ids) + 1
			switch {
			case strings.HasPrefix(was, "ses_"):
				r.ids[was] = fmt.Sprintf("ses_%024d", n)
			case strings.Contains(was, "-"):
				r.ids[was] = fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
			case len(was) == 13: // a time
				r.ids[was] = fmt.Sprint(1_700_000_000_000 + n)
			default:
				r.ids[was] = fmt.Sprintf("%0*d", len(was), n)
			}
		}
		return r.ids[was]
	})
}
