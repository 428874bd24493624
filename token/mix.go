package token

// A Mix is a cost in tokens, split by the kind of text it comes from.
// Tokenizers differ by kind: one that makes a tenth more tokens of prose may
// make a third more of code. A [Calibrator] learns this difference.
type Mix struct {
	Prose int // text and reasoning
	Code  int // tool calls, tool results, tool schemas
	Wide  int // text of any role that is largely not ASCII
	Fixed int // overhead of the format, and images, audio and files
}

// Total returns the sum.
func (m Mix) Total() int { return m.Prose + m.Code + m.Wide + m.Fixed }

// Plus returns the sum of two mixes, kind by kind.
func (m Mix) Plus(o Mix) Mix {
	return Mix{m.Prose + o.Prose, m.Code + o.Code, m.Wide + o.Wide, m.Fixed + o.Fixed}
}

// wideSample is the number of bytes of a text that are examined for its script.
const wideSample = 2048

// isMostlyWide reports whether at least a third of the first bytes of a text are not ASCII.
func isMostlyWide(text string) bool {
	sample := text[:min(len(text), wideSample)]
	high := 0
	for i := 0; i < len(sample); i++ {
		high += int(sample[i] >> 7)
	}
	return high*3 >= len(sample) && high > 0
}

// prose and code assign the cost of a text to a kind.
func prose(text string, n int) Mix {
	if isMostlyWide(text) {
		return Mix{Wide: n}
	}
	return Mix{Prose: n}
}

func code(text string, n int) Mix {
	if isMostlyWide(text) {
		return Mix{Wide: n}
	}
	return Mix{Code: n}
}
