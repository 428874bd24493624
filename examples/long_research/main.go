// Command long_research runs an agent for four times the window of a 128k
// model: it reads sources until the session has more than half a million
// tokens, and every request fits. It needs no network; the sources are
// generated. The events go to an Ariadne if COMPACT_ARIADNE_URL names one.
//
//	go run ./examples/long_research
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
)

func main() {
	log.SetFlags(0)
	if _, err := run(context.Background(), os.Stdout, ".compact/archive"); err != nil {
		log.Fatal(err)
	}
}

const (
	window = 128_000
	goal   = 4 * window // tokens of the whole session
)

// outcome holds the figures of a run, for the test.
type outcome struct {
	tokens, calls, compactions, largest, budget int
}

func run(ctx context.Context, w io.Writer, archive string) (o outcome, err error) {
	c := compact.Config{Model: "gpt-4o", MaxContextTokens: window}
	c.Storage.Path, c.Trace.AriadneURL = archive, os.Getenv("COMPACT_ARIADNE_URL")
	m, err := compact.New(ctx, c)
	if err != nil {
		return o, err
	}
	defer m.Close(ctx)
	rng := rand.New(rand.NewPCG(1, 2))
	history := []message.Message{
		message.System("You write a report on how cities store heat. Cite every source by its id."),
		message.User("Which designs keep seasonal losses below 20 %? Only use sources from after 2015."),
	}
	for source := 1; o.tokens < goal; source++ {
		res, err := m.Preflight(ctx, "research", history)
		if err != nil {
			return o, err
		}
		o.calls++
		o.tokens, o.budget, o.largest = res.TokensIn, res.Budget, max(o.largest, res.After.Total)
		if res.Triggered {
			o.compactions++
			fmt.Fprintf(w, "source %3d: history %6d tokens, request %6d -> %6d, %s\n", source, res.TokensIn, res.Before.Total, res.After.Total, res.CallStage)
		}
		history = append(history, research(rng, source)...)
		if source%40 == 0 {
			history = append(history, message.Assistant(fmt.Sprintf("Interim finding: pit storage SRC-%d is the best so far.", source)),
				message.User(fmt.Sprintf("Good. Go on, and compare it with borehole storage from SRC-%d.", source-7)))
		}
	}
	fmt.Fprintf(w, "%d tokens of history, %d model calls, %d compactions; the largest request had %d tokens, the budget is %d\n",
		o.tokens, o.calls, o.compactions, o.largest, o.budget)
	return o, nil
}

// research is one round: the agent fetches two sources in parallel and reads
// them.
func research(rng *rand.Rand, n int) []message.Message {
	a, b := fmt.Sprintf("call_%da", n), fmt.Sprintf("call_%db", n)
	return []message.Message{
		message.Assistant(fmt.Sprintf("I fetch SRC-%d and its data sheet.", n),
			message.Call(a, "fetch", fmt.Sprintf(`{"url":"https://example.org/papers/%d"}`, n)),
			message.Call(b, "fetch", fmt.Sprintf(`{"url":"https://example.org/data/%d.csv"}`, n))),
		message.ToolResult(a, paper(rng, n)),
		message.ToolResult(b, table(rng, n)),
	}
}

var words = strings.Fields("the storage tank borehole pit aquifer water gravel loss summer winter heat pump district insulation cost measured simulated year efficiency temperature layer stratification solar collector city network return flow")

func paper(rng *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "SRC-%d (%d). Seasonal storage in city %d.\n", n, 2010+rng.IntN(15), rng.IntN(900))
	for range 900 + rng.IntN(1200) {
		b.WriteString(words[rng.IntN(len(words))])
		b.WriteByte(" \n"[rng.IntN(40)/39])
	}
	return b.String()
}

func table(rng *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "id,month,loss_pct,temperature\n")
	for month := 1; month <= 12; month++ {
		fmt.Fprintf(&b, "SRC-%d,%d,%.1f,%.1f\n", n, month, 8+20*rng.Float64(), 30+50*rng.Float64())
	}
	return b.String()
}
