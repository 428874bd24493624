package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// answersIn is the time that the server waits for answers after the input has ended.
const answersIn = time.Minute

// lines is a connection with one message per line. Unlike [mcp.IOTransport] it answers
// an invalid line with an error and continues, and when the input ends, it answers
// every request before it ends the session.
type lines struct {
	in       io.ReadCloser
	out      io.WriteCloser
	incoming chan []jsonrpc.Message // closed at the end of in; readErr then has the reason
	readErr  error
	gone     atomic.Bool       // the input has ended
	queue    []jsonrpc.Message // rest of a batch

	closing sync.Once
	closed  chan struct{}
	stop    <-chan struct{} // closed when the server should end; the contexts of its methods don't show that

	mu       sync.Mutex // guards out and pending
	pending  map[jsonrpc.ID]bool
	answered chan struct{} // receives a value after an answer
}

func newLines(in io.ReadCloser, out io.WriteCloser, stop <-chan struct{}) *lines {
	return &lines{
		in: in, out: out, incoming: make(chan []jsonrpc.Message), closed: make(chan struct{}),
		stop: stop, pending: map[jsonrpc.ID]bool{}, answered: make(chan struct{}, 1),
	}
}

// Connect starts to read. It is called once.
func (l *lines) Connect(context.Context) (mcp.Connection, error) {
	go l.receive()
	return l, nil
}

// SessionID returns "": there is one session.
func (l *lines) SessionID() string { return "" }

// receive reads lines until the input ends or the connection is closed. While the
// input sends nothing, receive waits, even after the connection is closed.
func (l *lines) receive() {
	defer close(l.incoming)
	for r := bufio.NewReader(l.in); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			l.readErr = err
			l.gone.Store(errors.Is(err, io.EOF))
		}
		if msgs := l.parsed(bytes.TrimSpace(line)); len(msgs) > 0 {
			select {
			case l.incoming <- msgs:
			case <-l.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// parsed returns the messages of a line, which has one message or, in older versions
// of the protocol, a batch. It answers invalid messages.
func (l *lines) parsed(line []byte) []jsonrpc.Message {
	var batch []json.RawMessage
	switch {
	case len(line) == 0:
		return nil
	case !json.Valid(line):
		l.refuse(jsonrpc.CodeParseError, "this line is not JSON: a message is one line of JSON")
		return nil
	case json.Unmarshal(line, &batch) != nil: // not an array
		batch = []json.RawMessage{line}
	case len(batch) == 0:
		l.refuse(jsonrpc.CodeInvalidRequest, "this batch is empty")
	}
	var msgs []jsonrpc.Message
	for _, raw := range batch {
		msg, err := jsonrpc.DecodeMessage(raw)
		if err != nil {
			l.refuse(jsonrpc.CodeInvalidRequest, "this is not a message of JSON-RPC 2.0: "+err.Error())
			continue
		}
		l.expect(msg)
		msgs = append(msgs, msg)
	}
	return msgs
}

// refuse answers a line with an unknown id.
func (l *lines) refuse(code int64, why string) {
	answer := struct {
		Version string         `json:"jsonrpc"`
		ID      any            `json:"id"`
		Error   *jsonrpc.Error `json:"error"`
	}{"2.0", nil, &jsonrpc.Error{Code: code, Message: why}}
	data, err := json.Marshal(answer)
	if err != nil {
		return // can't happen: only numbers and texts
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(data, '\n')) // the next answer gets the error, too
}

// expect records a request that must be answered.
func (l *lines) expect(msg jsonrpc.Message) {
	if r, ok := msg.(*jsonrpc.Request); ok && r.IsCall() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.pending[r.ID] = true
	}
}

// Read returns the next message, and [io.EOF] at the end of the input, after all
// requests are answered.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(l.queue) == 0 {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-l.closed:
			return nil, io.EOF
		case msgs, ok := <-l.incoming:
			if !ok {
				return nil, l.drained(ctx)
			}
			l.queue = msgs
		}
	}
	msg := l.queue[0]
	l.queue = l.queue[1:]
	return msg, nil
}

// drained waits until all requests are answered, and returns the error of the input.
func (l *lines) drained(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answersIn)
	defer cancel()
	for l.waiting() {
		select {
		case <-l.answered:
		case <-l.closed:
			return l.readErr
		case <-l.stop:
			return l.readErr
		case <-ctx.Done():
			return l.readErr
		}
	}
	return l.readErr
}

func (l *lines) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.pending) > 0
}

// Write writes a message. After an error nobody reads the answers, so the end of the
// input does not wait for them.
func (l *lines) Write(ctx context.Context, msg jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(data, '\n'))
	if r, ok := msg.(*jsonrpc.Response); ok {
		delete(l.pending, r.ID)
		if err != nil {
			clear(l.pending)
		}
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// Close ends Read, and closes input and output.
func (l *lines) Close() (err error) {
	l.closing.Do(func() {
		close(l.closed)
		err = errors.Join(l.in.Close(), l.out.Close())
	})
	return err
}
