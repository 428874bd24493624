package ariadne

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/agentcompact/compact/trace"
)

// pack groups items into bodies of at most limit bytes. A larger item gets a
// body of its own, which the server may refuse.
func pack(items []item, limit int) [][]item {
	var bodies [][]item
	size, from := len(`{"batch":[]}`), 0
	for i, it := range items {
		if i > from && size+len(it.json)+1 > limit {
			bodies = append(bodies, items[from:i])
			size, from = len(`{"batch":[]}`), i
		}
		size += len(it.json) + 1
	}
	if from < len(items) {
		bodies = append(bodies, items[from:])
	}
	return bodies
}

func encodeBatch(items []item) []byte {
	parts := make([][]byte, len(items))
	for i, it := range items {
		parts[i] = it.json
	}
	return slices.Concat([]byte(`{"batch":[`), bytes.Join(parts, []byte{','}), []byte(`]}`))
}

func countEvents(items []item) int {
	n := 0
	for _, it := range items {
		n += it.event
	}
	return n
}

// maxPosts is the maximum number of posts of one batch in search of the items
// that the server refuses.
const maxPosts = 256

// deliver posts the items. It halves a refused batch until only the refused
// items are left out, because the server does not always name them. It returns
// an error only if no connection was made; then no item was sent.
func (e *Exporter) deliver(ctx context.Context, items []item, t *tally) error {
	posts := maxPosts
	todo := [][]item{items}
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if posts--; posts < 0 {
			t.lose(countEvents(next), errors.New("the server refuses too many events; the search for them was stopped"))
			continue
		}
		err := e.post(ctx, next)
		var refused *refusal
		switch {
		case err == nil:
		case posts == maxPosts-1 && trace.NotSent(err):
			return err
		case errors.As(err, &refused) && refused.divisible() && len(next) > 1:
			half := len(next) / 2
			todo = append(todo, next[half:], next[:half]) // the earlier half first
		default:
			t.lose(countEvents(next), err)
		}
	}
	return nil
}

// refusal is a negative answer of the server.
type refusal struct {
	status int
	detail string // from a validation error
}

func (r *refusal) Error() string {
	s := fmt.Sprintf("answer %d %s", r.status, http.StatusText(r.status))
	if r.detail != "" {
		s += fmt.Sprintf(" (%.120q)", r.detail)
	}
	return s
}

// divisible reports whether the server may accept a part of the batch.
func (r *refusal) divisible() bool {
	return r.status == http.StatusBadRequest || r.status == http.StatusRequestEntityTooLarge
}

// post sends one body, within the timeout. It retries once after a network
// error. Any answer is final.
func (e *Exporter) post(ctx context.Context, items []item) error {
	limited, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	body := encodeBatch(items)
	answer, err := e.roundTrip(limited, body)
	if err != nil && limited.Err() == nil {
		answer, err = e.roundTrip(limited, body)
	}
	if err != nil {
		return plain(err)
	}
	return answer.judge(len(items))
}

// answer is an HTTP answer of the server, as far as it was read.
type answer struct {
	status int
	body   []byte // beginning of the body
}

func (e *Exporter) roundTrip(ctx context.Context, body []byte) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	start, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	return answer{resp.StatusCode, start}, err
}

var errNotAriadne = errors.New("the answer is not Ariadne's")

// judge returns nil if the server reports that it took all n items.
func (a answer) judge(n int) error {
	var said struct {
		Success bool
		Count   int
		Details []struct{ Message string }
	}
	err := json.Unmarshal(a.body, &said)
	if a.status != http.StatusOK {
		r := &refusal{status: a.status}
		if err == nil && len(said.Details) > 0 {
			r.detail = said.Details[0].Message
		}
		return r
	}
	if err != nil || !said.Success || said.Count != n {
		return errNotAriadne
	}
	return nil
}

// plain removes the URL from an error, because it may contain a password.
func plain(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}
