package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/turnindex"
)

// findNumbered returns the messages that summaries cite by numbers, each with its
// number if there are several. Numbers belong to a lane: if several agents of the
// session use them, each message is listed with its agent.
func (s *session) findNumbered(ctx context.Context, steps []ledgerStep, q reference) (string, bool, error) {
	var lanes []owner
	at := map[owner]map[int]turnindex.Record{}
	for k := range steps {
		step := &steps[k]
		for i := range step.Evicted {
			e := &step.Evicted[i]
			n, of := int(e.Number), step.owner()
			if n < q.first || n > q.last || step.Volatile {
				continue
			}
			if at[of] == nil {
				at[of], lanes = map[int]turnindex.Record{}, append(lanes, of)
			}
			at[of][n] = turnindex.Record{File: step.at(e).file, Off: e.Off, Len: e.Len}
		}
	}
	var b strings.Builder
	for _, of := range lanes {
		if len(lanes) > 1 {
			fmt.Fprintf(&b, "[agent %q%s]\n", of.agent, branchOf(of))
		}
		if err := s.writeNumbered(ctx, &b, at[of], q); err != nil {
			return "", false, err
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), len(lanes) > 0, nil
}

func branchOf(of owner) string {
	if of.branch == "" {
		return ""
	}
	return fmt.Sprintf(", branch %q", of.branch)
}

func (s *session) writeNumbered(ctx context.Context, b *strings.Builder, at map[int]turnindex.Record, q reference) error {
	var records pieces
	for _, r := range at {
		if q.most > 0 && r.Len > q.most {
			return errMuchToRead
		}
		records = append(records, r)
	}
	lines, err := s.provenLines(ctx, records)
	if err != nil {
		return err
	}
	for n := q.first; n <= q.last; n++ {
		r, ok := at[n]
		if !ok {
			continue
		}
		a, err := readLine(slices.Clone(lines[lineAt{r.File, r.Off}]))
		if err != nil {
			return err
		}
		if q.first != q.last {
			fmt.Fprintf(b, "[s%d %s]\n", n, a.msg.Role)
		}
		b.WriteString(textOf(a.msg) + "\n")
	}
	return nil
}

// textOf returns the texts of all parts of a message.
func textOf(m message.Message) string {
	texts := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		texts[i] = partText(p)
	}
	return strings.Join(texts, "\n")
}
