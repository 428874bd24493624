package replay

import (
	"reflect"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// filled sets every number in v to a different value, from n on.
func filled(v reflect.Value, n *int) {
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int:
			f.SetInt(int64(*n))
		case reflect.Float64:
			f.SetFloat(float64(*n))
		case reflect.Struct:
			filled(f, n)
		default:
		}
		*n++
	}
}

// doubled reports the numbers in sum that are not twice the same ones in one.
func doubled(t *testing.T, name string, one, sum reflect.Value) {
	t.Helper()
	for i := range one.NumField() {
		x, y, field := one.Field(i), sum.Field(i), name+"."+one.Type().Field(i).Name
		switch x.Kind() {
		case reflect.Int:
			if y.Int() != 2*x.Int() {
				t.Errorf("%s: %d and the same are %d", field, x.Int(), y.Int())
			}
		case reflect.Float64:
			if y.Float() != 2*x.Float() {
				t.Errorf("%s: %v and the same are %v", field, x.Float(), y.Float())
			}
		case reflect.Struct:
			doubled(t, field, x, y)
		default:
		}
	}
}

// No sum leaves out a field.
func TestSumsHaveEveryField(t *testing.T) {
	n := 1
	var kept Kept
	var usage price.Usage
	var money Money
	one := SessionStats{Stages: map[string]int{}}
	for _, v := range []any{&kept, &usage, &money, &one} {
		filled(reflect.ValueOf(v).Elem(), &n)
	}
	one.Stages["mask"] = 3
	two := SessionStats{Stages: map[string]int{}}
	two.add(&one)
	two.add(&one)
	if two.WholeUSD != 2*one.WholeUSD || two.Stages["mask"] != 6 {
		t.Errorf("%+v", two)
	}
	row := &Row{Money: money}
	for name, of := range map[string][2]any{
		"Kept": {kept, kept.Plus(kept)}, "Usage": {usage, usage.Plus(usage)}, "Money": {money, sumOf([]*Row{row, row})}, "SessionStats": {one, two},
	} {
		doubled(t, name, reflect.ValueOf(of[0]), reflect.ValueOf(of[1]))
	}
	if money.Total() != money.Fresh+money.Cached+money.Written+money.Output+money.Summaries || usage.Prompt() != usage.Cached+usage.Written+usage.WrittenHour+usage.Fresh {
		t.Errorf("%+v costs %v, %+v has %d", money, money.Total(), usage, usage.Prompt())
	}
}

// The tools before the messages are cached like them, until a change, or the end of the
// cache's lifetime.
func TestToolsAreCachedWithThePrompt(t *testing.T) {
	count, err := token.NewEstimator("gpt-4o", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	card, _ := price.For("claude-sonnet-4-5")
	b := biller{card: card, count: count, fixed: 5000}
	view := []message.Message{message.User("one"), message.Assistant("two"), message.User("three"), message.Assistant("four")}
	size := func(n int) (tokens int) {
		for i := range n {
			tokens += count.Message(view[i])
		}
		return tokens
	}
	answer := message.Assistant("an answer")
	for i, c := range []struct {
		view    []message.Message
		gap     time.Duration
		cached  int
		changed bool
	}{
		{view[:1], 0, 0, false},
		{view[:3], time.Second, 5000 + size(1), false},
		{view, card.Lifetime, 5000 + size(3), false},
		{view, card.Lifetime + 1, 0, false},
		{view[:2], time.Second, 5000 + size(2), true},
	} {
		b.gap = c.gap
		u, changed := b.bill(c.view, answer)
		if all := 5000 + size(len(c.view)); u.Cached != c.cached || u.Prompt() != all || u.Output != count.Message(answer) || changed != c.changed {
			t.Errorf("call %d: %+v of %d, changed %v; want %d cached, %v", i, u, all, changed, c.cached, c.changed)
		}
	}
	b.last = view[:1]
	protected := view[0]
	protected.Protected = true // stays in files, so the provider gets the same bytes
	if u, _ := b.bill([]message.Message{protected}, answer); u.Cached != 5000+size(1) {
		t.Errorf("a message that was protected in between: %d cached, want %d", u.Cached, 5000+size(1))
	}
}
