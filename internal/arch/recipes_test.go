package arch

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

const recipesBegin = `package smuggle

import (
	"context"
	"net/http"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
	compactotel "github.com/agentcompact/compact/trace/otel"
)

var _, _, _, _ = http.Handle, trace.ContextWith, metrics.New, compactotel.New
`

const recipeBegin = `
func recipe%d(ctx context.Context, cfg compact.Config, m *compact.CompactManager, traceID, parentSpanID, sessionID string, history []message.Message, tracerProvider oteltrace.TracerProvider) error {
`

// The Go code in docs/OBSERVABILITY.md compiles.
func TestGoRecipesCompile(t *testing.T) {
	text, err := os.ReadFile("../../docs/OBSERVABILITY.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString(recipesBegin)
	blocks := regexp.MustCompile("(?ms)^ *```go\n(.*?)^ *```$").FindAllStringSubmatch(string(text), -1)
	for i, m := range blocks {
		fmt.Fprintf(&b, recipeBegin, i)
		for line := range strings.Lines(m[1]) {
			if !strings.HasPrefix(line, "import ") { // recipeBegin has the imports
				b.WriteString(line)
			}
		}
		if strings.Contains(m[1], "res, err :=") {
			b.WriteString("_, _ = res, err\n")
		}
		b.WriteString("return nil\n}\n")
	}
	if len(blocks) < 4 {
		t.Fatalf("docs/OBSERVABILITY.md has %d blocks of Go code, want at least 4", len(blocks))
	}
	if wrong, out := build(t, b.String()); len(wrong) > 0 {
		t.Errorf("%s\n%s", out, b.String())
	}
}
