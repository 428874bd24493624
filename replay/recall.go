package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

// A Recaller is a [Runner] whose policy archives removed text for recalls.
type Recaller interface {
	Runner
	// Recall answers a call of the recall tool with these arguments. For an
	// unknown reference it returns the tool's answer, not an error.
	Recall(ctx context.Context, arguments json.RawMessage) (string, error)
	// Ref returns the reference of a part of the history.
	Ref(p message.Part) string
}

// Limits of one recall, and of the search for the best one.
const (
	recallTokens   = 4000     // maximum tokens of an answer that count, from its start
	recallBytes    = 32 << 10 // limit of an answer of the tool
	recallContext  = 10       // lines around a match
	recallMessages = 12       // messages whose parts are tried
	recallPatterns = 8        // per part
)

// recalls searches for the best single recall of each call of a session.
type recalls struct {
	from  Recaller
	count *token.Estimator
	needs *needs
	known map[string]map[string]bool // arguments → the identifiers in the answer
}

// best returns the number of missing identifiers that the best single recall
// returns. A recall returns a whole part, by its reference, or the lines of a
// part that contain one of the identifiers. best tries the messages with the
// most missing identifiers first, and stops when no other message can bring
// more.
func (r *recalls) best(ctx context.Context, history []message.Message, missing []string) (best int, err error) {
	for k, at := range r.holders(missing, len(history)) {
		if k == recallMessages || at.holds <= best {
			break
		}
		for _, p := range history[at.message].Parts {
			wanted := among(missing, p)
			if len(wanted) <= best {
				continue
			}
			got, err := r.part(ctx, r.from.Ref(p), wanted)
			if err != nil {
				return best, err
			}
			best = max(best, got)
		}
	}
	return best, nil
}

type holder struct{ message, holds int }

// holders returns the messages that contain any of the identifiers. Messages with more
// of them come first, and newer messages before older ones.
func (r *recalls) holders(missing []string, before int) []holder {
	n := map[int]int{}
	for _, id := range missing {
		for _, i := range r.needs.holds[id] {
			if i < before {
				n[i]++
			}
		}
	}
	out := make([]holder, 0, len(n))
	for i, holds := range n {
		out = append(out, holder{i, holds})
	}
	slices.SortFunc(out, func(a, b holder) int {
		return cmp.Or(cmp.Compare(b.holds, a.holds), cmp.Compare(b.message, a.message))
	})
	return out
}

// among returns the identifiers that a part contains.
func among(ids []string, p message.Part) (out []string) {
	in := map[string]bool{}
	read(&message.Message{Parts: []message.Part{p}}, func(text string) {
		identifiers(text, func(id string) { in[id] = true })
	})
	for _, id := range ids {
		if in[id] {
			out = append(out, id)
		}
	}
	return out
}

// part returns the number of wanted identifiers that the best recall of a part
// returns.
func (r *recalls) part(ctx context.Context, ref string, wanted []string) (best int, err error) {
	asked := []query{{Ref: ref}}
	for _, id := range wanted[:min(len(wanted), recallPatterns)] {
		asked = append(asked, query{ref, regexp.QuoteMeta(id), recallContext})
	}
	for _, q := range asked {
		in, err := r.ask(ctx, q)
		if err != nil {
			return best, err
		}
		n := 0
		for _, id := range wanted {
			n += one(in[id])
		}
		if best = max(best, n); best == len(wanted) {
			break
		}
	}
	return best, nil
}

// query holds the arguments of the recall tool.
type query struct {
	Ref     string `json:"ref"`
	Pattern string `json:"pattern,omitempty"`
	Context int    `json:"context,omitempty"`
}

func (r *recalls) ask(ctx context.Context, q query) (map[string]bool, error) {
	arguments, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	if in, ok := r.known[string(arguments)]; ok {
		return in, nil
	}
	text, err := r.from.Recall(ctx, arguments)
	if err != nil {
		return nil, err
	}
	in := map[string]bool{}
	for line := range strings.Lines(r.beginning(text)) {
		if q.Pattern != "" {
			line = numbered.ReplaceAllString(line, "")
		}
		add := func(id string) { in[strings.Clone(id)] = true }
		identifiers(line, add)
		if strings.Contains(line, `\`) { // possibly the arguments of a call
			identifiers(escapes.Replace(line), add)
		}
	}
	r.known[string(arguments)] = in
	return in, nil
}

// escapes replaces the escape sequences between words in the arguments of a
// call.
var escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", `\r`, " ", `\"`, " ")

// numbered matches the number before a matching line.
var numbered = regexp.MustCompile(`^\d+[:-]`)

// beginning returns the part of an answer that counts.
func (r *recalls) beginning(text string) string {
	for {
		n := r.count.Text(text)
		if n <= recallTokens {
			return text
		}
		text = text[:min(len(text)*recallTokens/n, len(text)-1)]
	}
}
