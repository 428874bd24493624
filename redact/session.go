package redact

// A Session redacts texts that belong together, such as the messages of one
// conversation: a secret found in one text is also replaced in all later texts,
// at any position, escaped or in base64, even if nothing there indicates a
// secret. Earlier texts are not redacted again; use [Session.Learn] to find
// secrets in advance.
//
// It keeps keyed hashes of the secrets, not the secrets, and only the latest
// thousand. It is safe for concurrent use.
//
// Names are identifiers of the texts themselves, such as the id of the
// conversation. A name does not count as a secret because of a word like
// "session" before it, but it does after words such as password, token or API
// key. A JSON string that equals a name is a secret only under such a key.
type Session struct {
	r     *Redactor
	mem   *memory
	names *names
}

// Session returns a new [Session] with these names.
func (r *Redactor) Session(called ...Text) *Session {
	s := &Session{r: r, mem: newMemory(), names: &names{}}
	s.Name(called...)
	return s
}

// Name adds names. If there are more than 128 names, the first and the newest are kept.
func (s *Session) Name(called ...Text) { s.names.add(called) }

// Text is [Redactor.Text] with the secrets known so far.
func (s *Session) Text(text string) Text {
	return Text{s.r.redact(text, document{mem: s.mem, names: s.names})}
}

// JSON is [Redactor.JSON] with the secrets known so far.
func (s *Session) JSON(raw []byte) Text {
	return Text{s.r.redact(string(raw), document{json: true, mem: s.mem, names: s.names})}
}

// Record is [Redactor.Record] with the secrets known so far.
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
