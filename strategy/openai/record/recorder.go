package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/agentcompact/compact/internal/summarize"
	codec "github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/strategy/openai"
)

// Names of the files in a recording.
const (
	sessionFile  = "session.jsonl"
	requestFile  = "request.json"
	responseFile = "response.json"
	summaryFile  = "summary.md"
)

// maxTokens is the limit of the recorded summary. The replay has the same limit.
const maxTokens = 400

// count counts tokens as the replay does: four bytes per token.
func count(s string) int { return (len(s) + 3) / 4 }

// A recorder makes one recording.
type recorder struct {
	config  openai.Config
	note    string
	session []byte // JSONL
}

var errSource = errors.New("-base-url and -note are required: the file has to say who answered")

// record requests the summary and returns the recording.
func (r *recorder) record(ctx context.Context) ([]byte, error) {
	if r.config.BaseURL == "" || r.note == "" {
		return nil, errSource
	}
	var w wire
	r.config.HTTP = &http.Client{Transport: &w}
	c, err := openai.New(r.config)
	if err != nil {
		return nil, err
	}
	sum, err := r.summarize(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(w.exchanges) != 1 || sum.Backend != openai.Name || sum.Fallback != "" {
		return nil, fmt.Errorf("%d requests, and the summary is by %s (%s): a recording must consist of one request", len(w.exchanges), sum.Backend, sum.Fallback)
	}
	var request bytes.Buffer
	if err := json.Indent(&request, w.exchanges[0].request, "", "  "); err != nil {
		return nil, err
	}
	return txtar.Format(&txtar.Archive{
		Comment: []byte("An exchange, as strategy/openai/record wrote it down.\nWho answered: " + r.note + "\n"),
		Files: []txtar.File{
			{Name: sessionFile, Data: r.session},
			{Name: requestFile, Data: line(request.Bytes())},
			{Name: responseFile, Data: line(w.exchanges[0].response)},
			{Name: summaryFile, Data: line([]byte(sum.Text))},
		},
	}), nil
}

func (r *recorder) summarize(ctx context.Context, s strategy.Summarizer) (summarize.Summary, error) {
	msgs, _, err := codec.Parse(r.session)
	if err != nil {
		return summarize.Summary{}, err
	}
	return summarize.Writer{Summarizer: s, MaxTokens: maxTokens}.Write(ctx, summarize.Input{Messages: msgs, Count: count})
}

// fixture returns answers in the format of aimock. The answer to every request is the
// extractive summary of the session.
func (r *recorder) fixture(ctx context.Context) ([]byte, error) {
	sum, err := r.summarize(ctx, strategy.Extractive{})
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	return json.MarshalIndent(object{"fixtures": []object{{"match": object{"endpoint": "chat"}, "response": object{"content": sum.Text}}}}, "", "  ")
}

// wire records the exchanges.
type wire struct{ exchanges []exchange }

type exchange struct{ request, response []byte }

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	var e exchange
	var err error
	if e.request, err = io.ReadAll(req.Body); err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(e.request))
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if e.response, err = io.ReadAll(resp.Body); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(e.response))
	w.exchanges = append(w.exchanges, e)
	return resp, nil
}

// readSession reads the session from a file, or from the recording if session is "".
func readSession(session, recording string) ([]byte, error) {
	if session != "" {
		return os.ReadFile(session)
	}
	a, err := txtar.ParseFile(recording)
	if err != nil {
		return nil, err
	}
	for _, f := range a.Files {
		if f.Name == sessionFile {
			return f.Data, nil
		}
	}
	return nil, fmt.Errorf("%s holds no %s", recording, sessionFile)
}

// line returns a text with exactly one line feed at its end.
func line(b []byte) []byte { return append(bytes.TrimRight(b, "\n"), '\n') }
