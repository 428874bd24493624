package replay

import (
	"fmt"
	"runtime"
	"time"

	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// Options configure a replay.
type Options struct {
	Policies []Policy
	Windows  []int         // tokens; default 200,000
	Model    string        // model whose tokens are counted; default "gpt-4o"
	Card     price.Card    // prices; default: the prices of Model
	Gap      time.Duration // time between two calls; above the card's lifetime every call finds a cold cache
	Recorded bool          // use the gaps of the sessions' time stamps; a missing one is an error of the session
	Workers  int           // sessions at once; default one per core
	Least    AtLeast       // shorter sessions are skipped
	Where    bool          // report where the missing identifiers went, and which content the prompts' tokens come from

	// Progress gets the number of finished calls and the total, from one
	// goroutine at a time. The total covers the sessions read so far, and
	// assumes their average for the remaining ones. Expected is the number of
	// sessions (0: unknown).
	Progress func(done, total int)
	Expected int
}

func (o Options) filled() (Options, error) {
	if len(o.Windows) == 0 {
		o.Windows = []int{200_000}
	}
	if o.Model == "" {
		o.Model = "gpt-4o"
	}
	if o.Card == (price.Card{}) {
		o.Card, _ = price.For(o.Model)
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if len(o.Policies) == 0 {
		return o, fmt.Errorf("replay: no policy is given")
	}
	return o, o.Card.Validate()
}

// AtLeast is the minimum size of a session.
type AtLeast struct {
	Tokens int // of all its messages, in the model's tokens
	Calls  int // answers; a session of few calls says little about long-term cost
}

// isMetBy reports whether a session has the minimum size.
func (l AtLeast) isMetBy(s *Session, count *token.Estimator) bool {
	return len(s.Calls()) >= l.Calls && (l.Tokens <= 0 || count.Messages(s.Messages) >= l.Tokens)
}

// String returns it as words: "60,000 tokens and 15 calls".
func (l AtLeast) String() string {
	switch {
	case l.Calls <= 0:
		return counted(l.Tokens, "token")
	case l.Tokens <= 0:
		return counted(l.Calls, "call")
	}
	return counted(l.Tokens, "token") + " and " + counted(l.Calls, "call")
}
