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
	steps := flag.Int("steps", 60, "`number` of tool calls over all requests, after which the script is done")
	window := flag.Int("window", 75_000, "maximum `tokens` of a prompt; a token has four bytes")
	lines := flag.Int("lines", 400, "lines that each command prints")
	help := flag.Bool("help-agent", false, "the first step starts another agent, if the agent has a tool for that")
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
