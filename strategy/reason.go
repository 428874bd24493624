package strategy

import "github.com/agentcompact/compact/strategy/internal/fileops"

// A reason is the purpose that the assistant stated for a change of a file.
type reason struct {
	step int
	text string
}

// reasons returns, for each changed file, the last purpose that the assistant stated with
// a change of the file.
func (h *History) reasons() map[string]reason {
	out := map[string]reason{}
	for i := range h.Steps {
		s := &h.Steps[i]
		said, asked := "", false
		for k := range s.Calls {
			for _, f := range s.Calls[k].files {
				if f.Op < fileops.Edited {
					continue
				}
				if !asked {
					said, asked = purpose(s.saidBefore()), true
				}
				if said != "" {
					out[h.key(f.Path)] = reason{s.ID, said}
				}
			}
		}
	}
	return out
}

// suffix returns a quotation of the reason for a line that cites the last change. If the
// reason was stated with an earlier change, the suffix cites the earlier step.
func (r reason) suffix(last int) string {
	switch {
	case r.text == "":
		return ""
	case r.step == last:
		return saidBefore(r.text)
	}
	return " — said before " + stepID(r.step) + ": “" + r.text + "”"
}
