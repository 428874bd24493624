package agentloop

import (
	"fmt"
	"net/http"
	"sync"

	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/token"
)

// Figures describes the requests of a run.
type Figures struct {
	Requests int
	Refused  int // requests that break the provider's rules
	Above    int // requests above the window
	// smallest share of a request whose bytes equal the previous request, except after compactions,
	// restarts and changes of the model
	Least       float64
	Mean        float64
	Compactions int
	Summaries   int    // compactions with a summary
	Recalls     int    // calls of the recall tool
	Seen        int    // requests of the SDK itself that contain such a call
	Forgot      int    // restarts after which no earlier edit was applied again
	Where       string // the difference at the request with the smallest share
	shares      int
}

// Header is the header of a table of [Figures.Row].
const Header = "| SDK | window | requests | refused | above the window | least same | mean same | compactions | summaries each | recalls | seen by its loop |\n|---|---|---|---|---|---|---|---|---|---|---|"

// Row returns a row of the table.
func (f Figures) Row(name string, window int) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %.1f %% | %.1f %% | %d | %.2f | %d | %d |", name, window, f.Requests, f.Refused, f.Above,
		100*f.Least, 100*f.Mean, f.Compactions, float64(f.Summaries)/float64(max(f.Compactions, 1)), f.Recalls, f.Seen)
}

// add counts the requests that an endpoint received.
func (f *Figures) add(e *Endpoint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f.Compactions, f.Summaries = f.Compactions+e.compacted, f.Summaries+e.summed
	f.Forgot += e.forgot
	f.Recalls, f.Seen = f.Recalls+e.recalls, f.Seen+e.seen
	log := e.server.Requests()
	for i, q := range log {
		f.Requests++
		switch {
		case q.Prompt > e.server.Window:
			f.Above++
		case q.Status != http.StatusOK:
			f.Refused++
		}
		if i > 0 && !e.changed[i] {
			f.same(log[i-1], q)
		}
	}
}

func (f *Figures) same(before, q provider.Request) {
	share := shared(before.Body, q.Body)
	if f.shares == 0 || share < f.Least {
		f.Least, f.Where = share, differs(before.Body, q.Body)
	}
	f.Mean += (share - f.Mean) / float64(f.shares+1)
	f.shares++
}

// shared returns the share of a request that the next one repeats: at its
// beginning, and at its end for the fields after the messages (tools, settings).
func shared(before, after []byte) float64 {
	n, most := 0, min(len(before), len(after))
	for n < most && before[n] == after[n] {
		n++
	}
	end := 0
	for end < most-n && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	return float64(n+end) / float64(len(before))
}

// differs shows the first difference of two requests.
func differs(before, after []byte) string {
	n := 0
	for n < min(len(before), len(after)) && before[n] == after[n] {
		n++
	}
	from := max(0, n-100)
	return fmt.Sprintf("%q became %q", before[from:min(len(before), n+200)], after[from:min(len(after), n+200)])
}

var exact = sync.OnceValue(func() token.Counter {
	c, err := token.ForModel("gpt-4o")
	if err != nil {
		panic(err)
	}
	return c
})
