package summarize

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// faulty is a summarizer that panics with a value.
type faulty struct{ value any }

func (faulty) Describe() CallInfo { return CallInfo{} }

func (f faulty) Summarize(context.Context, strategy.Request) (strategy.Draft, error) { panic(f.value) }

func TestSafelyReportsPanicOnce(t *testing.T) {
	for _, value := range []any{"a fault", &policy.PanicError{Stage: StageName, Value: "a fault"}} {
		_, err := safely(context.Background(), faulty{value}, strategy.Request{})
		if err == nil || strings.Count(err.Error(), "panicked") != 1 || !strings.HasSuffix(err.Error(), "a fault") {
			t.Errorf("%T: %v", value, err)
		}
	}
}
