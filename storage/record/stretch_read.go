package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/agentcompact/compact/storage"
)

// logAhead is the number of bytes of edits.jsonl that are read at once. A transcript refers
// to originals one by one, mostly in the order of the log, and in a bucket each read of a
// log costs several requests.
const logAhead = 1 << 20

// stretches reads the lines to which files of a session refer. It can be used by several
// goroutines at once.
type stretches struct {
	s *Session

	mu   sync.Mutex // guards the fields below
	off  int64
	part []byte // bytes of edits.jsonl from off, as they were read last
}

func (s *Session) stretches() *stretches { return &stretches{s: s} }

// read returns the lines of a stretch, with line feeds. in is the referring file. For
// changed lines the error is a *[storage.ChangedError].
func (r *stretches) read(ctx context.Context, in string, st Stretch) ([]byte, error) {
	if !st.inLog() {
		data, err := r.s.Read(ctx, st.From, st.Off, st.Len)
		return st.check(in, data, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if end := st.Off + st.Len; st.Off < r.off || end > r.off+int64(len(r.part)) {
		part, err := r.s.Read(ctx, st.From, st.Off, max(st.Len, logAhead))
		if err != nil {
			return st.check(in, nil, err)
		}
		r.off, r.part = st.Off, part
	}
	part := r.part[st.Off-r.off:]
	return st.check(in, bytes.Clone(part[:min(st.Len, int64(len(part)))]), nil)
}

// check checks what was read for a stretch, and returns its lines with line feeds.
func (st Stretch) check(in string, data []byte, err error) ([]byte, error) {
	e := &storage.ChangedError{File: st.From, Want: st.SHA256, Detail: fmt.Sprintf("lines %d to %d, which %s refers to, have changed", st.First, st.First+st.Lines-1, in)}
	switch {
	case errors.Is(err, storage.ErrNotExist):
		e.Detail = "it is missing, and " + in + " refers to it"
		return nil, e
	case err != nil:
		return nil, err
	}
	if e.Have = hashOf(data); e.Have != st.SHA256 {
		return nil, e
	}
	if st.inLog() {
		data = append(data, '\n')
	}
	if bytes.Count(data, []byte("\n")) != st.Lines || data[len(data)-1] != '\n' {
		e.Have, e.Detail = "", fmt.Sprintf("%s names other bytes of it as lines %d to %d", in, st.First, st.First+st.Lines-1)
		return nil, e
	}
	return data, nil
}
