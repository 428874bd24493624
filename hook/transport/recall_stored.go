package transport

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// The Responses API stores each answer to an inner request under an id of its own. The
// caller knows one id, for all of them.

// ids returns the ids of the stored answers behind the caller's id, the last one last.
func (l link) ids() []string { return append(slices.Clone(l.before), l.id) }

// storedAnswer is a request that reads or deletes a stored answer, under an id that the caller uses
// for several stored answers.
type storedAnswer struct {
	x    *exchange
	id   string // the caller's
	link link
}

// storedAnswer returns the stored answers that a request reads or deletes, if they differ from the
// answer that the caller received. It returns nil for any other request. A stream of a stored
// answer exists only for background requests, which have no recall tool.
func (t *Transport) storedAnswer(req *http.Request, next roundTrip) *storedAnswer {
	if t.rounds == nil || req.URL == nil || req.Method != http.MethodGet && req.Method != http.MethodDelete || req.URL.Query().Has("stream") {
		return nil
	}
	head, id := cutLast(req.URL.Path)
	if _, kind := cutLast(head); kind != "responses" {
		return nil
	}
	s := &storedAnswer{x: &exchange{t: t, req: req, next: next}, id: id}
	if s.link = t.rounds.links.get(s.x.linkKey(id)); s.link.id == "" {
		return nil
	}
	return s
}

// cutLast returns a path without its last element, and this element.
func cutLast(path string) (head, last string) {
	path = strings.TrimSuffix(path, "/")
	i := strings.LastIndexByte(path, '/')
	return path[:max(i, 0)], path[i+1:]
}

// send deletes all stored answers behind the id, or reads those that the caller received as one.
func (s *storedAnswer) send() (*http.Response, error) {
	if s.x.req.Method == http.MethodDelete {
		return s.remove()
	}
	ids := []string{s.link.id}
	if s.link.joined {
		ids = s.link.ids()
	}
	var all joint
	for i, id := range ids {
		resp, o, err := s.ask(id)
		if err != nil || o == nil {
			return resp, err
		}
		shown := withoutItems(o, responsesSaid(list(o["output"])).hidden())
		if i == len(ids)-1 {
			return withObject(resp, all.response(shown)), nil
		}
		all.take(shown)
	}
	return nil, nil
}

// remove deletes the stored answers, the last one last: if one of them can't be deleted, the caller
// gets the provider's refusal and can try again.
func (s *storedAnswer) remove() (*http.Response, error) {
	ids := s.link.ids()
	for _, id := range ids[:len(ids)-1] {
		resp, _, err := s.ask(id)
		if err != nil || resp.StatusCode >= 300 && resp.StatusCode != http.StatusNotFound {
			return resp, err
		}
		_ = resp.Body.Close()
	}
	resp, o, err := s.ask(s.link.id)
	if err != nil || resp.StatusCode >= 300 {
		return resp, err
	}
	s.x.t.rounds.links.update(s.x.linkKey(s.id), func(link) link { return link{} })
	if o == nil {
		return resp, nil
	}
	o["id"] = enc(s.id)
	return withObject(resp, o), nil
}

// ask sends the request for one stored answer, and returns the object in the provider's answer; nil
// if that has no object, or is an error.
func (s *storedAnswer) ask(id string) (*http.Response, rawObject, error) {
	out := stripped(s.x.req).Clone(s.x.req.Context())
	head, _ := cutLast(out.URL.Path)
	out.URL.Path, out.URL.RawPath = head+"/"+id, ""
	out.Header.Del("Accept-Encoding")
	resp, err := s.x.next(out)
	if err != nil || resp.Body == nil || countable(resp) != document || codingOf(resp) != "" {
		return resp, nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		_ = resp.Body.Close()
		return nil, nil, err
	}
	resp.Body = joined{io.MultiReader(bytes.NewReader(raw), resp.Body), resp.Body}
	return resp, obj(raw), nil
}

// withObject returns an answer with another body.
func withObject(resp *http.Response, o rawObject) *http.Response {
	_ = resp.Body.Close()
	raw := enc(o)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	resp.Header.Del("Content-Length")
	return resp
}

// hidden returns the positions of the items that a caller does not get in an answer that
// was not streamed.
func (s *said) hidden() map[int]bool {
	gone := s.boundReasoning()
	maps.Copy(gone, s.positions())
	return gone
}

// take adds an answer to the answers that the caller receives as one.
func (j *joint) take(response rawObject) {
	if j.id == nil {
		j.id, j.created = response["id"], response["created_at"]
	}
	j.items = append(j.items, list(response["output"])...)
	j.output += max(indexOf(obj(response["usage"])["output_tokens"]), 0)
}
