// Modelserver is a model server without a model. It judges requests like the
// four providers and answers each with the next step of a script: a call of the
// agent's own shell (or of another of its tools) with a long output. After the
// last step it answers that it is done. It takes the place of a provider in
// demonstrations of agents; see docs/agents.
//
//	go run ./internal/provider/modelserver --steps 60 --window 75000
//
// GET /stats returns counts of the requests so far, and the reasons of refusals.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8999", "address")
	steps := flag.Int("steps", 60, "tool calls until it is done, over all requests")
	window := flag.Int("window", 75_000, "tokens that a prompt may have, a token being four bytes")
	lines := flag.Int("lines", 400, "lines that each command prints")
	help := flag.Bool("help-agent", false, "the first step starts another agent, where there is a tool for that")
	record := flag.String("record", "", "folder for the forms of the requests, one file each")
	flag.Parse()
	script := newScript(*steps, *window, *lines)
	script.help = *help
	if *record != "" {
		script.record = newRecorder(*record)
	}
	srv := &http.Server{Addr: *listen, Handler: script, ReadHeaderTimeout: time.Minute}
	fmt.Fprintln(os.Stderr, "modelserver: listening on http://"+*listen)
	if err := srv.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, "modelserver:", err)
		os.Exit(1)
	}
}
