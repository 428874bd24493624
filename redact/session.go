package redact

// A Session redacts texts that belong together, such as the messages of one
// conversation: a secret that was found in one of them is found in those that
// come after it too, wherever it stands and in its escaped and base64 forms,
// though nothing there gives it away. What was redacted before a secret was
// known stays as it is; use [Session.Learn] to know them first.
//
// It remembers no secret, but hashes of it under a key of its own, and forgets
// the oldest of more than a thousand. It is safe for concurrent use.
//
// Names are what the texts call themselves by, such as the id of the
// conversation. One of them is no secret because a word like "session" stands
// before it; it is one where a password, a token or an API key is said to be
// it, and in text that was told so. A string of JSON that is wholly a name is
// one only under such a key.
type Session struct {
	r     *Redactor
	mem   *memory
	names *names
}

// Session returns one that knows nothing yet but its names.
func (r *Redactor) Session(called ...Text) *Session {
	s := &Session{r: r, mem: newMemory(), names: &names{}}
	s.Name(called...)
	return s
}

// Name adds to the names. Of more than a hundred the first and the newest are
// known.
func (s *Session) Name(called ...Text) { s.names.add(called) }

// Text is [Redactor.Text] with what is known.
func (s *Session) Text(text string) Text {
	return Text{s.r.redact(text, document{mem: s.mem, names: s.names})}
}

// JSON is [Redactor.JSON] with what is known.
func (s *Session) JSON(raw []byte) Text {
	return Text{s.r.redact(string(raw), document{json: true, mem: s.mem, names: s.names})}
}

// Record is [Redactor.Record] with what is known.
func (s *Session) Record(raw []byte) Text {
	return Text{s.r.redact(string(raw), document{json: true, record: true, mem: s.mem, names: s.names})}
}

// Learn looks for secrets in a JSON value, or in any text, and remembers them.
func (s *Session) Learn(raw []byte) {
	if s.r.opts.Disabled {
		return
	}
	sc := s.r.scan()
	defer sc.release()
	text := string(raw)
	d := document{sc: sc, json: true, names: s.names}
	found := d.look(text)
	s.mem.learn(s.r, found)
}
