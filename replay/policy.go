package replay

import (
	"context"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// A Policy decides which view each call of a session sends. It is safe for concurrent
// use; a runner that it begins is for one session and one goroutine.
type Policy interface {
	// Name is the name of the policy in tables.
	Name() string
	// Reference reports whether the policy is only for comparison, and not a policy of
	// this module.
	Reference() bool
	// Begin starts a session. The runner is closed at the end of the session.
	Begin(ctx context.Context, s *Session, e Env) (Runner, error)
}

// A Runner makes the views of one session, call after call.
type Runner interface {
	// View returns the conversation that a call with the prompt history sends. It must not
	// modify history. The error is the context's, or one that ends the session.
	View(ctx context.Context, history []message.Message) (View, error)
	Close(ctx context.Context) error
}

// An Env is the environment of a replay.
type Env struct {
	Model  string
	Window int // tokens
	Count  *token.Estimator
	Card   price.Card       // prices of calls
	Now    func() time.Time // the clock of the session; it does not advance during a call
}

// A View is the conversation that one call sends.
type View struct {
	Messages []message.Message
	// Sources holds, for each of Messages, its index in the history; -1 = the
	// policy made the message.
	Sources []int
	// Fates holds the decision on each message of the history; "" = unchanged.
	// nil: unknown.
	Fates []string

	Compacted bool   // this call removed something
	Paying    bool   // the reason was that removing pays, not the window or the policy's routine
	Refused   bool   // the policy found no view; the history is sent unchanged
	Reason    string // the reason of the compaction or the refusal

	Tidied  []compact.Tidied // the work of reducers on the new results of this call
	Change  *Change          // the compaction; nil if there was none, or it is not described
	Summary price.Usage      // usage of the model that wrote a summary in this call
	Elapsed time.Duration    // the policy's own time
}

// identity returns 0, 1, … n-1.
func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
