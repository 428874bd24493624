package redact

// A Session redacts texts that belong together, such as the messages of one
// conversation: a secret that was found in one of them is found in those that
// come after it too, wherever it stands and in its escaped and base64 forms,
// though nothing there gives it away. What was redacted before a secret was
// known stays as it is; use [Session.Learn] to know them first.
//
// It remembers no secret, but hashes of it under a key of its own, and forgets
// the oldest of more than a thousand. It is safe for concurrent use.
type Session struct {
	r   *Redactor
	mem *memory
}

// Session returns one that knows nothing yet.
func (r *Redactor) Session() *Session { return &Session{r: r, mem: newMemory()} }

// Text is [Redactor.Text] with what is known.
func (s *Session) Text(text string) Text { return Text{s.r.redact(text, document{mem: s.mem})} }

// JSON is [Redactor.JSON] with what is known.
func (s *Session) JSON(raw []byte) Text {
	return Text{s.r.redact(string(raw), document{json: true, mem: s.mem})}
}

// Record is [Redactor.Record] with what is known.
func (s *Session) Record(raw []byte) Text {
	return Text{s.r.redact(string(raw), document{json: true, record: true, mem: s.mem})}
}

// Learn looks for secrets in a JSON value, or in any text, and remembers them.
func (s *Session) Learn(raw []byte) {
	if s.r.opts.Disabled {
		return
	}
	sc := s.r.scan()
	defer sc.release()
	text := string(raw)
	d := document{sc: sc, json: true}
	found := d.look(text)
	s.mem.learn(s.r, found)
}
