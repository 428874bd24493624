package replay

import (
	"context"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// A Policy decides what each call of a session is sent. It is safe for
// concurrent use; what it begins is for one session and one goroutine.
type Policy interface {
	// Name is what tables call the policy.
	Name() string
	// Reference reports whether the policy is one to compare with, and not one
	// of this module.
	Reference() bool
	// Begin starts a session. The runner is closed when the session has ended.
	Begin(ctx context.Context, s *Session, e Env) (Runner, error)
}

// A Runner makes the views of one session, call after call.
type Runner interface {
	// View returns what a call is sent whose full prompt is history. It must not
	// modify history. The error is the context's, or one that ends the session.
	View(ctx context.Context, history []message.Message) (View, error)
	Close(ctx context.Context) error
}

// An Env is the environment of a replay.
type Env struct {
	Model  string
	Window int // tokens
	Count  *token.Estimator
	Card   price.Card       // what calls cost
	Now    func() time.Time // the clock of the session: it stands still during a call
}

// A View is what one call is sent.
type View struct {
	Messages []message.Message
	// Sources says which message of the history each of Messages is; -1 = made by
	// the policy.
	Sources []int
	// Fates says what became of each message of the history; "" = it is as it was. nil:
	// nobody says.
	Fates []string

	Compacted bool   // this call took something out
	Paying    bool   // it did because that pays; else the window, or what the policy does anyway, wanted it
	Refused   bool   // the policy could make no view; the history goes out as it is
	Reason    string // why it compacted, or was refused

	Tidied  []compact.Tidied // what reducers did with the results that came with this call
	Change  *Change          // what the compaction did; nil where there was none, or nobody says
	Summary price.Usage      // what a model was asked for a summary with this call
	Elapsed time.Duration    // own work
}

// identity returns 0, 1, … n-1.
func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
