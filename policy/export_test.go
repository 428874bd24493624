package policy

// Answered describes the call that a result answers.
type Answered = answered

// Render returns the text of a mark.
func (f Forms) Render(k Mark, of Answered) (string, error) { return f.render(k, of) }

// The forms of placeholders that tests name.
const (
	FormCall   = formCall
	FormResult = formResult
)
