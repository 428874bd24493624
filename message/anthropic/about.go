package anthropic

import (
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message/internal/body"
	"github.com/agentcompact/compact/message/wire"
)

func aboutOf(b body.Body) wire.About {
	a := b.About()
	a.Tools = b.JSON("tools")
	a.MaxOutput = b.Int("max_tokens")
	switch {
	case b.JSON("compaction") != nil:
		a.ServerSide = "compaction"
	case managed(b.JSON("context_management")):
		a.ServerSide = "context_management"
	}
	return a
}

// managed reports whether the provider edits the history itself. That it
// leaves out old thinking is no matter: that changes nothing of the rest.
func managed(raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return len(raw) > 0
	}
	managed := false
	err := jsonscan.Object(raw, jsonscan.Span{End: len(raw)}, func(m jsonscan.Member) error {
		if m.Key != "edits" || raw[m.Value.Start] != '[' {
			return nil
		}
		return jsonscan.Array(raw, m.Value, func(_ int, at jsonscan.Span) error {
			b := block{data: raw}
			err := b.read(at)
			managed = managed || !strings.HasPrefix(b.kind, "clear_thinking_")
			return err
		})
	})
	return managed || err != nil
}
