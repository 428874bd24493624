package provider

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// A Server answers like the four providers, under their real paths with any
// prefix (Azure deployments, Vertex projects). It refuses a request that its
// judges refuse, or that does not fit the window, with the provider's own
// error. A path that is not a model call gets a 404, or, for Anthropic's
// count_tokens, a count. The zero Server is not ready; use [NewServer]. Its
// fields must not be changed while it answers; its methods are safe for
// concurrent use.
type Server struct {
	// Window is the maximum number of tokens of a prompt; 0 = no limit.
	Window int
	// MaxBytes is the maximum size of a request's body in bytes; 0 = no limit.
	// A larger body is answered with 413.
	MaxBytes int
	// Count counts the tokens of a request's body; nil = one token per four
	// bytes.
	Count func(body []byte) int
	// Reply returns the answer to a request; nil = the answers passed to
	// [Server.Answer], in order, and then a short text.
	Reply func(Request) Answer
	// InStream makes Responses report a prompt that is too long inside a stream
	// that began with status 200.
	InStream bool
	// Lenient turns the judges off: no request is refused by a rule.
	Lenient bool
	// Cache makes Anthropic's answers count the tokens that the cache read and stored;
	// nil = the numbers of the Answer.
	Cache *PromptCache
	// Store makes the Responses API store answers and conversations; nil = a
	// previous_response_id and a conversation are ignored.
	Store *Store

	judges map[Wire]*Judge

	mu       sync.Mutex
	script   []Answer
	failures []Failure
	log      []Request
	serial   int
}

// A Request is a request that a server received.
type Request struct {
	Wire   Wire // "" for paths that are not a model call
	Method string
	Path   string // with the query
	Header http.Header
	Body   []byte // verbatim
	Prompt int    // tokens of the prompt
	Status int    // of the answer; 0 = not answered yet
}

// A Failure is an error answer that does not depend on the request.
type Failure struct {
	Status     int           // 429, 500, 503, 529, …
	RetryAfter time.Duration // header Retry-After; 0 = none
	Hang       bool          // no answer until the client disconnects
}

// NewServer returns a server without a window and without answers.
func NewServer() *Server {
	s := &Server{judges: map[Wire]*Judge{}}
	for _, w := range Wires() {
		s.judges[w] = NewJudge(w)
	}
	return s
}

// Judge returns the server's judge for a wire.
func (s *Server) Judge(w Wire) *Judge { return s.judges[w] }

// Follow continues the numbering of the answers of the server before, so that a
// history that began there has no duplicate ids.
func (s *Server) Follow(before *Server) {
	before.mu.Lock()
	serial := before.serial
	before.mu.Unlock()
	s.mu.Lock()
	s.serial = max(s.serial, serial)
	s.mu.Unlock()
}

// Answer adds answers to the script of the server.
func (s *Server) Answer(a ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, a...)
}

// Fail makes the next model calls fail, one for each failure.
func (s *Server) Fail(f ...Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = append(s.failures, f...)
}

// Recover drops the failures that are left.
func (s *Server) Recover() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures = nil
}

// Requests returns the requests received so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.log...)
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return // the client has disconnected
	}
	req := Request{Wire: wireOf(q), Method: q.Method, Path: q.URL.RequestURI(), Header: q.Header.Clone(), Body: body, Prompt: s.count(body)}
	slot, failure := s.arrive(req)
	out := &recorder{ResponseWriter: w, began: func(status int) { s.began(slot, status) }}
	switch {
	case req.Wire == "":
		s.elsewhere(out, q, req)
	case failure != nil && failure.Hang:
		<-q.Context().Done()
	case failure != nil:
		writeError(out, req.Wire, failed(req.Wire, *failure))
	default:
		s.call(out, q, req)
	}
}

func (s *Server) count(body []byte) int {
	if s.Count != nil {
		return s.Count(body)
	}
	return len(body) / 4
}

// arrive logs a request, and takes the next failure if it is a model call.
func (s *Server) arrive(req Request) (slot int, failure *Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, req)
	if req.Wire != "" && len(s.failures) > 0 {
		failure, s.failures = &s.failures[0], s.failures[1:]
	}
	return len(s.log) - 1, failure
}

// began records the status of an answer, before the client can read it.
func (s *Server) began(slot, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log[slot].Status = status
}

// call judges a model call and answers it.
func (s *Server) call(w http.ResponseWriter, q *http.Request, req Request) {
	judge := s.judges[req.Wire]
	if s.MaxBytes > 0 && len(req.Body) > s.MaxBytes {
		writeError(w, req.Wire, failed(req.Wire, Failure{Status: http.StatusRequestEntityTooLarge}))
		return
	}
	body, err := decode(req.Body)
	body, bad := vertexBody(q.URL.Path, body)
	if bad != nil {
		writeError(w, req.Wire, *bad)
		return
	}
	whole, missing := s.history(&req, body)
	if missing != nil {
		writeError(w, req.Wire, *missing)
		return
	}
	if found := judge.decoded(whole, err); len(found) > 0 && !s.Lenient {
		writeError(w, req.Wire, refused(req.Wire, found[0]))
		return
	}
	asked := readAsked(q, req.Wire, body)
	if e, over := overflow(asked, req, s.Window); over {
		if s.InStream && req.Wire == Responses && asked.stream {
			writeResponsesFailure(newStream(w), e)
		} else {
			writeError(w, req.Wire, e)
		}
		return
	}
	answer := s.next(req, judge, asked)
	if req.Wire == Responses && s.Store != nil {
		s.Store.keep(body, whole, answer.response(asked, "completed", answer.responsesItems(), answer.responsesUsage()))
	}
	answers[req.Wire](w, asked, answer)
}

// history returns a request with the history that it names, and counts that history.
func (s *Server) history(req *Request, body object) (object, *errorAnswer) {
	if req.Wire != Responses || s.Store == nil || body == nil {
		return body, nil
	}
	whole, missing := s.Store.whole(body)
	if raw, err := json.Marshal(whole); err == nil && missing == nil {
		req.Prompt = s.count(raw)
	}
	return whole, missing
}

// next returns the answer to a request, with its reasoning signed.
func (s *Server) next(req Request, judge *Judge, a asked) answerData {
	s.mu.Lock()
	s.serial++
	serial := s.serial
	said := Answer{Text: "ok"}
	if s.Reply == nil && len(s.script) > 0 {
		said, s.script = s.script[0], s.script[1:]
	}
	s.mu.Unlock()
	if s.Reply != nil {
		said = s.Reply(req)
	}
	out := answerData{Answer: said, serial: serial, prompt: req.Prompt, open: req.Wire == Responses && !a.encrypts, lost: a.unstored, resumes: a.waiting}
	if s.Cache != nil && req.Wire == Anthropic {
		if u, err := s.Cache.Use(req.Body); err == nil { // a judge has refused other bodies
			out.prompt, out.Cached, out.Created = u.Prompt(), u.Read, u.Written
		}
	}
	out.sign()
	judge.Issue(out.issued(req.Wire))
	return out
}

// elsewhere answers a request that is not a model call.
func (s *Server) elsewhere(w http.ResponseWriter, q *http.Request, req Request) {
	if s.Store != nil && s.Store.serve(w, q, req.Body) {
		return
	}
	if q.Method == http.MethodPost && (strings.HasSuffix(q.URL.Path, "/messages/count_tokens") || strings.HasSuffix(q.URL.Path, vertexModels+"count-tokens:rawPredict")) {
		writeJSON(w, http.StatusOK, object{"input_tokens": req.Prompt})
		return
	}
	writeJSON(w, http.StatusNotFound, object{"error": object{"message": "Invalid URL (" + q.Method + " " + q.URL.Path + ")", "type": "invalid_request_error", "param": nil, "code": nil}})
}

// wireOf returns the wire of a model call, by its path.
func wireOf(q *http.Request) Wire {
	path := q.URL.Path
	switch {
	case q.Method != http.MethodPost:
		return ""
	case strings.HasSuffix(path, "/chat/completions"):
		return Chat
	case strings.HasSuffix(path, "/responses"):
		return Responses
	case strings.HasSuffix(path, "/messages"), vertexCall(path) != "":
		return Anthropic
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return Gemini
	}
	return ""
}

// recorder calls began when an answer begins.
type recorder struct {
	http.ResponseWriter
	began func(status int)
	wrote bool
}

func (r *recorder) WriteHeader(status int) {
	r.wrote = true
	r.began(status)
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(b []byte) (int, error) {
	if !r.wrote {
		r.WriteHeader(http.StatusOK)
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController flush.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
