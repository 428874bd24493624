package anthropic

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message/wire"
)

// calls and results are a round of n parallel calls; the last result may have a mark.
func calls(n int) string {
	return `{"role":"assistant","content":[` + strings.TrimSuffix(strings.Repeat(`{"type":"tool_use","id":"c","name":"f","input":{}},`, n), ",") + `]}`
}

func results(n int, mark string) string {
	return `{"role":"user","content":[` + strings.Repeat(`{"type":"tool_result","tool_use_id":"c","content":"r"},`, n-1) + `{"type":"tool_result","tool_use_id":"c","content":"r"` + mark + `}]}`
}

func TestPreviousEndIsMarkedBeforeManyBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		msgs    []string
		settled int
		marked  []int // indexes in msgs
	}{
		"few blocks":                      {[]string{user("a", ""), calls(7), results(7, "")}, -1, []int{2}},
		"many":                            {[]string{user("a", ""), calls(8), results(8, "")}, -1, []int{0, 2}},
		"many, in two messages":           {[]string{user("a", ""), calls(8), results(8, ""), calls(8), results(8, ""), user("b", "")}, -1, []int{2, 5}},
		"the beginning of an answer":      {[]string{user("a", ""), calls(8), results(8, ""), said("so")}, -1, []int{0, 3}},
		"no answer":                       {[]string{user("a", ""), user("b", "")}, -1, []int{1}},
		"the settled part":                {[]string{user("a", ""), calls(1), results(1, ""), said("b"), user("c", ""), said("d"), user("e", "")}, 2, []int{2, 6}},
		"the settled part behind summary": {[]string{summary, said("z"), user("a", ""), calls(1), results(1, ""), said("b"), user("c", "")}, 4, []int{0, 4, 6}},
		"all four":                        {[]string{summary, calls(1), results(1, ""), said("b"), user("c", ""), calls(30), results(30, "")}, 2, []int{0, 2, 4, 6}},
		"the caller's three marks":        {[]string{user("a", short), said("b"), user("c", short), said("d"), user("e", short), calls(8), results(8, "")}, 1, []int{0, 2, 4, 6}},
	} {
		req, err := Wire.ParseRequest([]byte(`{"messages":[`+strings.Join(c.msgs, ",")+`]}`), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		all := make([]int, len(req.Messages()))
		for i := range all {
			all[i] = i
		}
		settled := -1
		for i, m := range req.Messages() { // an item has a message for each of its results
			if c.settled >= 0 && strings.Contains(c.msgs[c.settled], string(m.Raw())) {
				settled = i
			}
		}
		out, err := req.(wire.Marker).WriteMarked(req.Messages(), all, settled)
		if err != nil {
			t.Fatal(name, err)
		}
		written, err := Wire.ParseRequest(out, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		w := written.(*request)
		var got []int
		for i := range w.Items() {
			if len(itemMarks(w.Item(i))) > 0 {
				got = append(got, i)
			}
		}
		if len(got) != len(c.marked) {
			t.Errorf("%s: marked %v, want %v", name, got, c.marked)
			continue
		}
		for k := range got {
			if got[k] != c.marked[k] {
				t.Errorf("%s: marked %v, want %v", name, got, c.marked)
			}
		}
	}
}

func TestReachesReportsWhetherAMarkIsNear(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want bool
	}{
		"no answer":                     {`{"messages":[` + user("a", "") + `]}`, true},
		"no mark":                       {`{"messages":[` + user("a", "") + "," + calls(30) + "," + results(30, "") + `]}`, true},
		"19 blocks to the mark":         {`{"messages":[` + user("a", "") + "," + calls(9) + "," + results(10, short) + `]}`, true},
		"20 blocks to the mark":         {`{"messages":[` + user("a", "") + "," + calls(10) + "," + results(10, short) + `]}`, false},
		"a mark at the end of the last": {`{"messages":[` + user("a", short) + "," + calls(10) + "," + results(10, short) + `]}`, true},
		"the provider's mark, 19":       {`{"cache_control":{"type":"ephemeral"},"messages":[` + user("a", "") + "," + calls(9) + "," + results(10, "") + `]}`, true},
		"the provider's mark, 20":       {`{"cache_control":{"type":"ephemeral"},"messages":[` + user("a", "") + "," + calls(10) + "," + results(10, "") + `]}`, false},
		"a near mark":                   {`{"messages":[` + user("a", "") + "," + calls(5) + "," + results(5, short) + "," + user("b", short) + `]}`, true},
	} {
		req, err := Wire.ParseRequest([]byte(c.body), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := req.(wire.Marker).Reaches(); got != c.want {
			t.Errorf("%s: %v, want the opposite", name, got)
		}
	}
}
