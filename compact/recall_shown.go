package compact

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
)

// WithRecall declares that the agent has the recall tool in this call, although
// the request's tools do not list it. The summary then has references, and so do
// the placeholders of the presets graduated and economy; without the tool and this
// option neither has. In a session whose id begins with [UnnamedSession], answer
// the tool with [CompactManager.RecallShown].
func WithRecall() Option { return func(r *request) { r.answered = true } }

// recalls reports whether the model can recall references.
func (c *call) recalls() bool {
	return c.q.answered || !c.q.unnamed && declares(c.q.tools)
}

// declares reports whether a request's tools include the recall tool: a tool of
// that name, on any wire, with a parameter ref.
func declares(tools json.RawMessage) bool {
	if !strings.Contains(string(tools), `"`+recallName+`"`) { // most requests don't have it
		return false
	}
	var list []json.RawMessage
	return json.Unmarshal(tools, &list) == nil && anyDeclares(list)
}

func anyDeclares(list []json.RawMessage) bool {
	for _, raw := range list {
		var t struct {
			Name      string            `json:"name"`
			Function  json.RawMessage   `json:"function"`
			Functions []json.RawMessage `json:"functionDeclarations"`
			Snake     []json.RawMessage `json:"function_declarations"`
		}
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		if t.Name == recallName && strings.Contains(string(raw), `"ref"`) ||
			t.Function != nil && anyDeclares([]json.RawMessage{t.Function}) || anyDeclares(t.Functions) || anyDeclares(t.Snake) {
			return true
		}
	}
	return false
}

// RecallShown is [CompactManager.Recall] for a reference that the view of a result
// shows, in a placeholder or in its summary, and for no other. So it is safe for
// sessions without a name: a caller that holds the view has sent the text itself,
// even if another conversation has the same beginning.
func (m *CompactManager) RecallShown(ctx context.Context, res *Result, ref string, opts ...recall.Option) (text string, err error) {
	defer m.rescue("RecallShown", &err)
	if !m.shows(res.Messages, ref) {
		return "", fmt.Errorf("%w: no placeholder of the view names %q", ErrNotFound, shorten(ref))
	}
	q, err := lookup.ParseRef(ref)
	if err != nil {
		return "", err
	}
	return m.recall(ctx, res.Session, q, opts)
}

// shows reports whether a placeholder or summary of the manager has a reference.
func (m *CompactManager) shows(view []message.Message, ref string) bool {
	const digits = 12
	if len(ref) != digits {
		return false
	}
	for i := range view {
		for p := range view[i].Parts {
			part := &view[i].Parts[p]
			if mark, ok := forms(&m.cfg).ParseMark(part.Text); ok && (part.Kind == message.KindToolResult || mark.Form == formname.Media) && mark.Ref == ref {
				return true
			}
			if policy.IsSummary(view[i]) && strings.Contains(part.Text, ref) {
				return true
			}
		}
	}
	return false
}
