package compact

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// summaryDocument is a summary in the payload of compact.summary_created: its
// text by sections, without empty ones.
type summaryDocument struct {
	Words      []strategy.Word  `json:"words,omitempty"` // words that people typed
	Sections   []summarySection `json:"sections"`
	Notes      []string         `json:"notes,omitempty"`
	References []string         `json:"references,omitempty"`
	Base       string           `json:"base,omitempty"`
}

type summarySection struct {
	Name  string   `json:"name"`  // "goals_and_success_criteria"
	Title string   `json:"title"` // "Goals and success criteria"
	Lines []string `json:"lines"`
}

// summaryPayload returns the summary as JSON: its sections with their lines.
func (ep *epoch) summaryPayload(s *policy.SummaryInfo, body string) json.RawMessage {
	st := ep.writer.Strategy
	if st.Name != s.Strategy {
		var err error
		if st, err = strategy.Lookup(s.Strategy); err != nil {
			return json.RawMessage(`{}`)
		}
	}
	raw, err := json.Marshal(struct {
		Version  int             `json:"version"`
		Strategy string          `json:"strategy"`
		Document summaryDocument `json:"document"`
	}{s.Version, s.Strategy, documentOf(st, strategy.ParseDocument(st, body))})
	if err != nil {
		return json.RawMessage(`{}`)
	}
	return raw
}

func documentOf(st strategy.Strategy, d strategy.Document) summaryDocument {
	out := summaryDocument{Words: d.Words, Sections: []summarySection{}, Notes: d.Notes, References: d.References, Base: d.Base}
	for i, lines := range d.Sections {
		if len(lines) > 0 && i < len(st.Sections) {
			title := st.Sections[i].Title
			out.Sections = append(out.Sections, summarySection{snakeCase(title), title, lines})
		}
	}
	return out
}

// snakeCase returns a title as a key.
func snakeCase(title string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "_")
}
