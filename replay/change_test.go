package replay

import "testing"

func TestChangeDescribesOnlyItsCompaction(t *testing.T) {
	rep := run(t, Options{Policies: []Policy{preset(t, "graduated")}, Windows: []int{16000}}, session("a", 60))
	seen := map[int]bool{}
	n := 0
	for _, p := range rep.Rows[0].Points {
		if (p.Change != nil) != p.Compacted {
			t.Fatalf("message %d: compacted %v, change %v", p.Message, p.Compacted, p.Change)
		}
		if p.Change == nil {
			continue
		}
		n++
		if p.Change.After >= p.Change.Before || p.Change.After != p.Tokens {
			t.Errorf("message %d: from %d to %d tokens, %d were sent", p.Message, p.Change.Before, p.Change.After, p.Tokens)
		}
		for _, l := range p.Change.Lines {
			if seen[l.Index] && l.Decision == "masked" {
				t.Errorf("message %d was masked before", l.Index)
			}
			seen[l.Index] = true
			if l.Decision == "masked" && (l.Now == "" || l.After >= l.Before) || l.Words == "" {
				t.Errorf("message %d has a wrong description: %+v", l.Index, l)
			}
		}
	}
	if n < 2 {
		t.Fatalf("%d compactions, want two or more", n)
	}
}
