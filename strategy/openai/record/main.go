// Command record requests a summary from a server with the client of package
// openai, and stores the exchange: the session, the request, the answer, and
// the resulting summary. The test of that package replays the file.
//
//	go run ./strategy/openai/record -base-url URL -note "who answers" [-model NAME] [-out FILE]
//
// The session comes from the existing file, so that a recording can be repeated; -session
// names another session. The key is read from OPENAI_API_KEY. A recording must consist of
// one request: retries and pieces are errors.
//
// Without a model, an independent server that implements the protocol can
// answer with the extractive summary of the same session:
//
//	go run ./strategy/openai/record -fixture fixture.json
//	npm install --ignore-scripts @copilotkit/aimock@1.43.0
//	node node_modules/.bin/llmock -p 4010 -f fixture.json --strict
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"time"

	"github.com/agentcompact/compact/strategy/openai"
)

// timeout is the time limit of the whole recording.
const timeout = 2 * time.Minute

func main() {
	log.SetFlags(0)
	log.SetPrefix("record: ")
	var r recorder
	flag.StringVar(&r.config.BaseURL, "base-url", "", "URL of the server, with /v1")
	flag.StringVar(&r.config.Model, "model", "gpt-4o-mini", "model to request")
	flag.StringVar(&r.note, "note", "", "note about the server, for readers of the file")
	session := flag.String("session", "", "JSONL file; default the session of -out")
	out := flag.String("out", "strategy/openai/testdata/exchange.txtar", "file to write")
	fixture := flag.String("fixture", "", "write answers for aimock to this file, and send no request")
	flag.Parse()
	r.config.APIKey = openai.Key(os.Getenv("OPENAI_API_KEY"))

	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := r.run(ctx, *session, *out, *fixture); err != nil {
		cancel()
		log.Fatal(err)
	}
}

func (r *recorder) run(ctx context.Context, session, out, fixture string) error {
	var err error
	if r.session, err = readSession(session, out); err != nil {
		return err
	}
	if fixture != "" {
		data, err := r.fixture(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(fixture, data, 0o600)
	}
	file, err := r.record(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(out, file, 0o600)
}
