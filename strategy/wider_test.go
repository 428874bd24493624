package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/checks"
)

func TestWiderRunSettlesNarrowerFailure(t *testing.T) {
	for _, c := range []struct {
		failed, passed string
		settled        bool
	}{
		{"pytest -q tests/test_order.py", "pytest -q tests/", true},
		{"pytest tests/unit/test_order.py::test_rejected", "pytest tests/unit/test_order.py", true},
		{"pytest tests/unit/test_order.py::test_rejected", "pytest tests", true},
		{"pytest tests/a/test_x.py tests/b/test_y.py", "pytest tests/", true},
		{"pytest tests/a/test_x.py tests/b/test_y.py", "pytest tests/a", false},
		{"pytest tests/a/test_x.py::test_1 tests/b/test_y.py::test_2", "pytest tests/a/test_x.py", false},
		{"pytest tests/", "pytest tests/test_order.py", false},
		{"pytest other/test_order.py", "pytest tests/", false},
		{"go test ./order/stock", "go test ./order/...", true},
		{"go test ./order/stock", "go test ./...", true},
		{"go test ./order/...", "go test ./order/stock", false},
		{`go test ./order -run TestOrder_Rejected/empty`, `go test ./order -run TestOrder`, true},
		{`go test ./order -run TestOrder`, `go test ./order -run TestOrder_Rejected`, false},
		{`go test ./order -run "TestA_B|TestC"`, `go test ./order -run TestA`, false},
		{`pytest ""`, "pytest tests", false},
	} {
		r := checks.Reruns{}
		r.Wait(c.failed)
		if got := len(r.Settle(c.passed)) > 0; got != c.settled {
			t.Errorf("after %q, a pass of %q settles it: %v, want %v", c.failed, c.passed, got, c.settled)
		}
	}
	run := func(id, command, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"`+command+`"}`)), message.ToolResult(id, result)}
	}
	tells(t, long("Mend the orders.", append(run("1", "pytest -q tests/test_order.py", "FAILED tests/test_order.py::test_x - assert 1 == 2\n1 failed"), run("2", "pytest -q tests/", "212 passed in 31.0s")...)...),
		[]string{"212 passed"}, []string{"its last run failed"})
}

func TestReplyIsBeforeTheMessageBehindTheBlock(t *testing.T) {
	h := &History{Steps: []Step{
		{ID: 1, Role: message.RoleUser, Text: "Load the table."},
		{ID: 2, Role: message.RoleAssistant, Text: "It is loaded."},
		{ID: 3, Role: message.RoleAssistant, Text: "The picture is drawn."},
	}}
	for since, want := range map[int]string{0: replied + "[s3]", 3: replied + "[s2]", 2: ""} {
		h.order.since = since
		if got := h.repliedTo(1); got != want {
			t.Errorf("with a message before step %d: %q, want %q", since, got, want)
		}
	}
}

func TestAddressHasNoFolder(t *testing.T) {
	var got []string
	eachPath("see https://shop.example/cart/items and /srv/shop/cart.go", func(p string) { got = append(got, p) })
	if strings.Join(got, "|") != "/srv/shop/cart.go" {
		t.Errorf("got %q, want only the path", got)
	}
}
