package lookup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage/turnindex"
)

// findNumbered returns the messages that summaries cite by numbers, each with its
// number if there are several. Numbers belong to a lane: if several agents of the
// session use the same numbers and q does not name one, each message is listed with
// its agent.
func (s *Session) findNumbered(ctx context.Context, steps []ledger.Step, q Ref) (string, bool, error) {
	var lanes []ledger.Owner
	at := map[ledger.Owner]map[int]turnindex.Record{}
	meant := q.numbers(steps)
	for k := range steps {
		step := &steps[k]
		for i := range step.Evicted {
			e := &step.Evicted[i]
			n, of := int(e.Number), step.Owner()
			if n < q.First || n > q.Last || step.Volatile || !meant(step, e) {
				continue
			}
			if at[of] == nil {
				at[of], lanes = map[int]turnindex.Record{}, append(lanes, of)
			}
			at[of][n] = turnindex.Record{File: step.At(e).File, Off: e.Off, Len: e.Len}
		}
	}
	var b strings.Builder
	for _, of := range lanes {
		if len(lanes) > 1 {
			fmt.Fprintf(&b, "[agent %q%s]\n", of.Agent, branchOf(of))
		}
		if err := s.writeNumbered(ctx, &b, at[of], q); err != nil {
			return "", false, err
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), len(lanes) > 0, nil
}

func branchOf(of ledger.Owner) string {
	if of.Branch == "" {
		return ""
	}
	return fmt.Sprintf(", branch %q", of.Branch)
}

func (s *Session) writeNumbered(ctx context.Context, b *strings.Builder, at map[int]turnindex.Record, q Ref) error {
	var records pieces
	for _, r := range at {
		if q.Most > 0 && r.Len > q.Most {
			return ErrMost
		}
		records = append(records, r)
	}
	lines, err := s.provenLines(ctx, records)
	if err != nil {
		return err
	}
	for n := q.First; n <= q.Last; n++ {
		r, ok := at[n]
		if !ok {
			continue
		}
		a, err := ledger.ParseLine(slices.Clone(lines[ledger.Place{File: r.File, Off: r.Off}]))
		if err != nil {
			return err
		}
		if q.First != q.Last {
			fmt.Fprintf(b, "[s%d %s]\n", n, a.Message.Role)
		}
		b.WriteString(a.Text() + "\n")
	}
	return nil
}
