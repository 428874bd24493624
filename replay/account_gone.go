package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/token"
)

// evicted locates a message in the archive that a step edited or removed.
type evicted struct {
	FP   string `json:"fp"`
	File string `json:"file"` // "" = the step's archive file
	Off  int64  `json:"off"`
	Len  int64  `json:"len"`
	Is   string `json:"is"`
	Turn int    `json:"turn"`

	lost bool // the archive can't return it
}

// counter counts archived messages. It uses one encoding for all models, because the
// messages are redacted, and their counts differ from the sent ones anyway.
var counter = sync.OnceValues(func() (*token.Estimator, error) {
	c, err := token.ForModel("gpt-4o")
	if err != nil {
		return nil, err
	}
	return token.NewEstimator("gpt-4o", c, nil)
})

// archivedLine is a message of the archive, with its fingerprint and the references of its
// parts.
type archivedLine struct {
	message.Message
	fp   string
	refs []string
}

// parseLine reads a line of the archive in the wire format that it names.
func parseLine(line []byte) (archivedLine, bool) {
	var about struct {
		Meta struct {
			FP   string   `json:"fp"`
			Refs []string `json:"refs"`
			Wire string   `json:"wire"`
		} `json:"meta"`
	}
	if json.Unmarshal(line, &about) != nil {
		return archivedLine{}, false
	}
	f := openai.Wire
	for _, other := range []wire.Format{responses.Wire, anthropic.Wire, gemini.Wire} {
		if other.Name() == about.Meta.Wire {
			f = other
		}
	}
	m, err := f.ParseMessage(line)
	return archivedLine{m, about.Meta.FP, about.Meta.Refs}, err == nil
}

// readGone reads the messages that a step edited or removed. missing counts the
// messages that are not in the archive, and lines that can't be parsed.
func readGone(ctx context.Context, s *record.Session, file string, all []*evicted) (gone []GoneLine, missing int, err error) {
	count, err := counter()
	if err != nil {
		return nil, 0, err
	}
	tools, err := toolNames(ctx, s, file, len(all))
	if err != nil {
		return nil, 0, err
	}
	for _, e := range all {
		line, err := s.Read(ctx, cmp.Or(e.File, file), e.Off, e.Len)
		if isGone(err) {
			missing, e.lost = missing+1, true
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		m, ok := parseLine(line)
		if !ok {
			missing, e.lost = missing+1, true
			continue
		}
		gone = append(gone, goneLine(count, &m, tools, e))
	}
	return gone, missing, nil
}

func goneLine(count *token.Estimator, m *archivedLine, tools map[answer]string, e *evicted) GoneLine {
	return GoneLine{
		Role: string(m.Role), Tool: m.tool(e.FP, tools), Tokens: count.Message(m.Message), Ref: m.ref(e.FP), Is: e.Is, Words: firstWords(&m.Message),
	}
}

// An answer is a result in an archived transcript: the fingerprint of its message, and the
// id of its call. The id alone is not enough, because some servers restart their ids at
// every turn.
type answer struct{ fp, id string }

// toolNames maps the results of an archived transcript to tools.
func toolNames(ctx context.Context, s *record.Session, file string, wanted int) (map[answer]string, error) {
	tools, calls := map[answer]string{}, map[string]string{}
	if wanted == 0 || file == "" {
		return tools, nil
	}
	for line, err := range s.Lines(ctx, file) {
		if isGone(err) {
			return tools, nil
		}
		if err != nil {
			return nil, err
		}
		m, _ := parseLine(line)
		for i := range m.Parts {
			switch p := &m.Parts[i]; p.Kind {
			case message.KindToolCall:
				calls[p.CallID] = p.Name
			case message.KindToolResult:
				tools[answer{m.fp, p.CallID}] = calls[p.CallID]
			}
		}
	}
	return tools, nil
}

// tool names the tools that a message with this fingerprint calls, or the tools whose results it
// contains.
func (m *archivedLine) tool(fp string, tools map[answer]string) string {
	var names []string
	for i := range m.Parts {
		name := ""
		switch p := &m.Parts[i]; p.Kind {
		case message.KindToolCall:
			name = p.Name
		case message.KindToolResult:
			if name = tools[answer{fp, p.CallID}]; name == "" {
				name = p.Name
			}
		}
		if name != "" && !strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// ref returns the reference to recall the message: the reference of its largest part,
// or the beginning of its fingerprint.
func (m *archivedLine) ref(fp string) string {
	largest, ref := -1, shortFP(fp)
	for i := range m.Parts {
		if n := len(m.Parts[i].Text); i < len(m.refs) && m.refs[i] != "" && n > largest {
			largest, ref = n, m.refs[i]
		}
	}
	return ref
}

// shortFP returns the beginning of a fingerprint, by which events name a message.
func shortFP(fp string) string { return fp[:min(len(fp), 12)] }

// recallTool is the default name of the recall tool.
const recallTool = "recall"

// readRecalls returns the calls of the recall tool in the archived transcripts of
// the steps.
func (a *Account) readRecalls(ctx context.Context, s *record.Session, files []string) ([]AccountRecall, error) {
	count, err := counter()
	if err != nil {
		return nil, err
	}
	all := recalling{count: count, at: map[recallKey]int{}}
	for n, file := range files {
		if file == "" {
			continue
		}
		all.begin()
		for line, err := range s.Lines(ctx, file) {
			if isGone(err) {
				break
			}
			if err != nil {
				return nil, err
			}
			m, _ := parseLine(line)
			for i := range m.Parts {
				all.part(&m.Parts[i], &a.Steps[n])
			}
		}
	}
	return all.found, nil
}

// A recalling collects the calls of the recall tool. A transcript repeats the messages
// of earlier transcripts.
type recalling struct {
	count *token.Estimator
	found []AccountRecall
	at    map[recallKey]int // index in found

	again map[recallKey]int // of the transcript that is read: number of equal calls so far
	open  map[string]int    // by id: index in found of the call that the next result answers
}

// recallKey identifies a call. Some servers restart the ids of calls at every turn, so that
// several calls can have one id, and be equal.
type recallKey struct {
	id, arguments string
	nth           int
}

// begin begins a transcript.
func (r *recalling) begin() { r.again, r.open = map[recallKey]int{}, map[string]int{} }

// part takes a part of a transcript that a step archived.
func (r *recalling) part(p *message.Part, step *AccountStep) {
	switch p.Kind {
	case message.KindToolCall:
		delete(r.open, p.CallID)
		if p.Name != recallTool {
			return
		}
		key := recallKey{id: p.CallID, arguments: string(p.Args)}
		r.again[key]++
		key.nth = r.again[key] // of equal calls
		k, known := r.at[key]
		if !known {
			k = len(r.found)
			r.at[key], r.found = k, append(r.found, AccountRecall{At: step.At, Agent: step.Agent, Asked: string(p.Args)})
		}
		r.open[p.CallID] = k
	case message.KindToolResult:
		if k, ok := r.open[p.CallID]; ok {
			r.found[k].Tokens = r.count.Part(*p)
		}
	}
}

// firstWords returns the beginning of a message on one line.
func firstWords(m *message.Message) string {
	var text string
	said(m, func(s string) {
		if text == "" {
			text = s[:min(len(s), 8*maxWords)]
		}
	})
	runes := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	if len(runes) > maxWords {
		return string(runes[:maxWords]) + "…"
	}
	return string(runes)
}
