package provider

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// An Answer is one answer of the model.
type Answer struct {
	Reasoning string // signed or encrypted if the wire requires it
	Text      string
	Calls     []Call
	Cached    int // tokens of the prompt that were read from a cache
	Created   int // tokens of the prompt that were written into a cache (Anthropic)
	Output    int // tokens of the answer; 0 = a quarter of its bytes
	// Search is the query of a web search that the provider runs. Its call and
	// its result are in the answer, before the text (Anthropic).
	Search string
	// Code is a program that the provider begins to run, and that waits for the results of the
	// answer's calls (Anthropic). If a program waits in a request, the answer begins with the
	// program's result, unless Waiting is set: then the program continues to wait.
	Code    string
	Waiting bool
	// Items are further items of the answer, in front of the calls, as JSON (Responses).
	Items []string
	// Compaction makes the answer a single item that replaces the whole request
	// (Responses).
	Compaction bool
}

// A Call is one tool call of an answer.
type Call struct {
	ID   string // "" = generated; none on Gemini
	Name string
	Args string // a JSON object
	// Namespace is the namespace of the tool, "" = none (Responses).
	Namespace string
	// Direct reports that the model makes the call, and not its waiting program (Anthropic).
	Direct bool
	// Input is the input of a custom tool, in place of Args (Responses).
	Input string
}

// answerData is an answer with the data that is needed to write it.
type answerData struct {
	Answer
	serial    int
	prompt    int
	signature string
	open      bool   // Responses: reasoning comes without its encrypted content, which only "include" adds
	resumes   string // Anthropic: the id of the program that waits in the request
	lost      bool   // Responses: the answer is not stored
}

// answers maps a wire to the function that writes an answer.
var answers = map[Wire]func(w http.ResponseWriter, a asked, s answerData){
	Chat: answerChat, Responses: answerResponses, Anthropic: answerAnthropic, Gemini: answerGemini,
}

// sign sets the signature of the answer's reasoning.
func (s *answerData) sign() {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", s.serial, s.Reasoning))
	s.signature = base64.StdEncoding.EncodeToString(sum[:])
}

// id returns the id of a call with the prefix of a wire.
func (s *answerData) id(k int, prefix string) string {
	if id := s.Calls[k].ID; id != "" {
		return id
	}
	return fmt.Sprintf("%s%d_%d", prefix, s.serial, k)
}

func (s *answerData) output() int {
	if s.Output > 0 {
		return s.Output
	}
	n := len(s.Text) + len(s.Reasoning)
	for _, c := range s.Calls {
		n += len(c.Name) + len(c.Args) + len(c.Input)
	}
	return n/4 + 1
}

// issued returns the answer as a request contains it, for the judge.
func (s *answerData) issued(w Wire) []byte {
	var body object
	switch w {
	case Chat:
		body = object{"messages": []any{s.chatMessage()}}
	case Responses:
		items := s.responsesItems()
		if s.open && s.lost && s.Reasoning != "" {
			items = items[1:] // nobody can send this reasoning back
		}
		body = object{"input": items}
	case Anthropic:
		body = object{"messages": []any{object{"role": "assistant", "content": s.anthropicBlocks()}}}
	default:
		body = object{"contents": []any{object{"role": "model", "parts": s.geminiParts()}}}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil
	}
	return b
}

// args returns arguments as an object.
func (c Call) args() object {
	o, err := decode([]byte(c.Args))
	if err != nil {
		return object{}
	}
	return o
}

// pieces cuts a text into the pieces of a stream, after spaces.
func pieces(s string) []string {
	if s == "" {
		return nil
	}
	return strings.SplitAfter(s, " ")
}

// stream writes server-sent events.
type stream struct {
	w   http.ResponseWriter
	ctl *http.ResponseController
	seq int
}

func newStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, ctl: http.NewResponseController(w)}
}

// event writes one event, with its name if it has one. Write errors are
// ignored: the client has disconnected.
func (s *stream) event(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	if name != "" {
		_, _ = fmt.Fprintf(s.w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", b)
	_ = s.ctl.Flush()
}

// typed writes an event whose data repeats its name, with a sequence number if
// numbered.
func (s *stream) typed(name string, numbered bool, v object) {
	v["type"] = name
	if numbered {
		v["sequence_number"] = s.seq
		s.seq++
	}
	s.event(name, v)
}
