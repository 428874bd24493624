// Command record asks a server for a summary with the client of package
// openai, and writes down what went over the wire: the session, the request,
// the answer, and the summary that came of it. The test of that package replays
// the file.
//
//	go run ./strategy/openai/record -base-url URL -note "who answers" [-model NAME] [-out FILE]
//
// The session is taken from the file that is there, so that a recording can be
// made again; -session names another one. The key is read from OPENAI_API_KEY.
// One request has to do: a recording of retries, or of pieces, is refused.
//
// Where there is no model, an independent server that only speaks the wire can
// answer; what it says is then the extractive summary of the same session:
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

// timeout is for the whole recording.
const timeout = 2 * time.Minute

func main() {
	log.SetFlags(0)
	log.SetPrefix("record: ")
	var r recorder
	flag.StringVar(&r.config.BaseURL, "base-url", "", "of the server, with /v1")
	flag.StringVar(&r.config.Model, "model", "gpt-4o-mini", "to ask for")
	flag.StringVar(&r.note, "note", "", "who answers, for the reader of the file")
	session := flag.String("session", "", "JSONL file; default the session of -out")
	out := flag.String("out", "strategy/openai/testdata/exchange.txtar", "file to write")
	fixture := flag.String("fixture", "", "write answers for aimock to this file, and ask nobody")
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
