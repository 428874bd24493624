package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message/internal/body"
	"github.com/agentcompact/compact/message/wire"
)

func aboutOf(b body.Body) wire.About {
	a := b.About()
	a.Tools = b.JSON("tools")
	a.MaxOutput = b.Int("max_tokens")
	if b.JSON("compaction") != nil {
		a.ServerSide = "compaction"
		return a
	}
	if trigger := managed(b.JSON("context_management")); trigger > 0 {
		a.ServerSide, a.ServerTrigger = "context_management", trigger
	}
	return a
}

// The numbers of tokens from which the provider edits a history, unless the request
// states another (https://platform.claude.com/docs/en/build-with-claude/context-editing,
// …/compaction).
const (
	clearsFrom   = 100_000
	compactsFrom = 150_000
	atOnce       = 1 // at any size: the unit is not tokens, or is unknown
)

// managed returns the number of tokens from which the provider edits the history itself; 0 =
// never. An edit that only leaves out old thinking does not count, because it changes nothing
// else.
func managed(raw []byte) (trigger int) {
	switch {
	case len(raw) == 0:
		return 0
	case raw[0] != '{':
		return atOnce
	}
	err := jsonscan.Object(raw, jsonscan.Span{End: len(raw)}, func(m jsonscan.Member) error {
		if m.Key != "edits" || raw[m.Value.Start] != '[' {
			return nil
		}
		return jsonscan.Array(raw, m.Value, func(_ int, at jsonscan.Span) error {
			from, err := editsFrom(raw, at)
			if from > 0 && (trigger == 0 || from < trigger) {
				trigger = from
			}
			return err
		})
	})
	if err != nil {
		return atOnce
	}
	return trigger
}

// editsFrom returns the number of tokens from which one edit applies; 0 = the edit only leaves out
// old thinking.
func editsFrom(raw []byte, at jsonscan.Span) (from int, err error) {
	b := block{data: raw}
	if err := b.read(at); err != nil {
		return 0, err
	}
	switch {
	case strings.HasPrefix(b.kind, "clear_thinking_"):
		return 0, nil
	case strings.HasPrefix(b.kind, "clear_tool_uses_"):
		from = clearsFrom
	case strings.HasPrefix(b.kind, "compact_"):
		from = compactsFrom
	default:
		return atOnce, nil
	}
	var given struct {
		Trigger *struct {
			Type  string
			Value int
		}
	}
	if json.Unmarshal(at.Of(raw), &given) != nil || given.Trigger != nil && (given.Trigger.Type != "input_tokens" || given.Trigger.Value < 1) {
		return atOnce, nil
	}
	if given.Trigger != nil {
		from = given.Trigger.Value
	}
	return from, nil
}
