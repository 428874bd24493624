package serve

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// counters holds the counters of a handler. It is safe for concurrent use.
type counters struct {
	mu       sync.Mutex
	flight   int
	requests map[[2]string]int // by provider and status
	failures map[string]int    // by operation
	passed   int
	broken   map[string]int // requests without a complete answer, by reason
	refusals map[string]int // by status
	added    histogram

	calls       int // calls whose prompt was compared with the budget
	free        int // the calls for which the provider billed nothing
	compactions int
	recalls     int
	stages      map[string]int
	history     int // tokens
	sent        int // tokens
}

func newCounters() *counters {
	return &counters{
		requests: map[[2]string]int{}, stages: map[string]int{},
		// They exist from the start, because Prometheus sees no increase in a series that
		// begins with 1.
		failures: map[string]int{"read": 0, "parse": 0, "compact": 0, "write": 0, "answer": 0, "recall": 0, "observe": 0},
		broken:   map[string]int{"upstream": 0, "read": 0, "broke_off": 0}, refusals: map[string]int{"401": 0, "404": 0, "503": 0},
		added: newHistogram(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10),
	}
}

// enter counts the start of a request, and returns false if too many are in flight.
func (c *counters) enter(most int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flight >= most {
		return false
	}
	c.flight++
	return true
}

// leave counts the end of a request; status 0 = no answer.
func (c *counters) leave(provider string, status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.flight--
	c.requests[[2]string{provider, strconv.Itoa(status)}]++
}

// left records the time until a request was sent.
func (c *counters) left(took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.added.add(took.Seconds())
}

func (c *counters) refused(status int) { c.up(c.refusals, strconv.Itoa(status)) }

func (c *counters) ended(why string) { c.up(c.broken, why) }

func (c *counters) up(what map[string]int, key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	what[key]++
}

// wrong counts an error of the transport.
func (c *counters) wrong(_ context.Context, err error) {
	var e *transport.Error
	if !errors.As(err, &e) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if errors.Is(err, transport.ErrPassed) {
		c.passed++
		return
	}
	c.failures[e.Op]++
}

// recalled counts answered calls of the recall tool.
func (c *counters) recalled(_ context.Context, calls int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recalls += calls
}

// result counts a request whose prompt was compared with the budget.
func (c *counters) result(of *compact.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	c.history += of.TokensIn
	c.sent += of.After.Total
	if of.Triggered {
		c.compactions++
		c.stages[string(of.CallStage)]++
	}
}

// unbilled takes a call for which the provider billed nothing out of the sums of tokens.
func (c *counters) unbilled(of *compact.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free++
	c.history -= of.TokensIn
	c.sent -= of.After.Total
}

// histogram counts, for each bound, the values up to it and above the previous
// bound.
type histogram struct {
	bounds []float64
	counts []int // one more than bounds, for larger values
	sum    float64
}

func newHistogram(bounds ...float64) histogram {
	return histogram{bounds: bounds, counts: make([]int, len(bounds)+1)}
}

func (h *histogram) add(v float64) {
	i := 0
	for i < len(h.bounds) && v > h.bounds[i] {
		i++
	}
	h.counts[i]++
	h.sum += v
}
