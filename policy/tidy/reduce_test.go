package tidy

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// holds returns the first promise that a reduction breaks, or "" if it breaks no
// promise.
func holds(r *Result, o Options) string {
	out, ok := Reduce(r, o)
	switch {
	case out.Err != nil:
		return out.Err.Error()
	case !ok:
		return ""
	}
	text := out.Render(r.Text, 9, testRef)
	if body := render(r.Text, out.Segments); len(body) >= len(r.Text) {
		return "it is not smaller"
	}
	if utf8.ValidString(r.Text) && !utf8.ValidString(text) {
		return "a character is cut"
	}
	if len(out.By) == 0 || out.Main() == "" && len(out.By) == 1 {
		return "nobody did it"
	}
	again := *r
	if twice, _ := Reduce(&again, o); twice.Render(r.Text, 9, testRef) != text {
		return "it is not the same twice"
	}
	if len(o.Off) == 0 && out.What == "" {
		return "" // a text of several kinds: what one reducer folded, another could read alone
	}
	next := Result{Text: text, Call: r.Call, Said: r.Said, Tokens: len(text) * r.Tokens / max(len(r.Text), 1)}
	if more, ok := Reduce(&next, o); ok {
		return "reduced again it becomes\n" + more.Render(text, 9, testRef) + "\nof\n" + text
	}
	return ""
}

func TestEachReducerReducesItsKindAndKeepsItsPromises(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			for _, o := range []Options{only(s.name), {}} {
				r := s.result(60_000)
				out, ok := Reduce(r, o)
				if !ok {
					t.Fatal("the sample is not reduced")
				}
				if out.Main() != s.name && len(o.Off) > 0 {
					t.Errorf("reduced by %v, want %s", out.By, s.name)
				}
				if broken := holds(r, o); broken != "" {
					t.Error(broken)
				}
			}
		})
	}
}

func TestReduceUsesTheReducerOfEachKind(t *testing.T) {
	for _, s := range samples {
		out, ok := Reduce(s.result(60_000), Options{})
		found := false
		for _, by := range out.By {
			found = found || by.Name == s.name
		}
		if !ok || !found {
			t.Errorf("%s: reduced by %v", s.name, out.By)
		}
	}
}

func TestReduceSkipsReducersThatAreOff(t *testing.T) {
	for _, s := range samples {
		for _, n := range Names() {
			out, _ := Reduce(s.result(30_000), Options{Off: []string{n}})
			for _, by := range out.By {
				if by.Name == n {
					t.Errorf("reducer %s runs although it is off", n)
				}
			}
		}
		if _, ok := Reduce(s.result(30_000), Options{Off: Names()}); ok {
			t.Errorf("%s: reduced although all reducers are off", s.name)
		}
	}
}

func TestReduceKeepsLinesWithErrors(t *testing.T) {
	for _, s := range samples {
		switch s.name {
		case "code", "searches", "paths", "listings", "documents", "pages", "patches":
			continue // the content of a file is not an outcome
		}
		text := s.make(60_000)
		at := strings.LastIndexByte(text[:30_000], '\n') + 1
		sep := "\n"
		if s.name == "json" {
			sep = ",\n"
		}
		bad := `{"error: disk full": "no space left"}`
		r := &Result{Text: text[:at] + bad + sep + text[at:], Call: s.call, Tokens: 15_000}
		out, ok := Reduce(r, Options{})
		if got := out.Render(r.Text, 9, testRef); !ok || !strings.Contains(got, bad) {
			t.Errorf("%s: %v, the error is not in\n%.2000s", s.name, ok, got)
		}
	}
}

func TestReduceKeepsResultsOfRangeRequests(t *testing.T) {
	text := samples[0].make(60_000)
	for _, call := range []Call{
		{"Read", []byte(`{"file_path":"/src/store.go","offset":100,"limit":900}`)},
		{"view", []byte(`{"path":"/src/store.go","view_range":[1,900]}`)},
		command("sed -n '1,400p' store.go"),
		command("cat store.go | head -n 400"),
		command("tail -300 store.go"),
	} {
		if out, ok := Reduce(&Result{Text: text, Call: call, Tokens: 15_000}, Options{}); ok {
			t.Errorf("%s is reduced by %v", call.Args, out.By)
		}
	}
	if _, ok := Reduce(&Result{Text: text, Call: reading("/src/store.go"), Tokens: 15_000}, Options{}); !ok {
		t.Error("a result without a range is not reduced")
	}
}

func TestReduceLeavesOutNothingOfSmallResults(t *testing.T) {
	for _, s := range samples {
		r := s.result(4_000)
		out, ok := Reduce(r, Options{})
		if ok && out.What != "" && s.name != "base64" {
			t.Errorf("%s: %q was left out of a result that is not large", s.name, out.What)
		}
	}
}

func TestReduceUsesTheLimitOfTheOptions(t *testing.T) {
	r := samples[0].result(16_000) // 4,000 tokens
	if _, ok := Reduce(r, Options{Large: 5_000}); ok {
		t.Error("the result is reduced although it is not large")
	}
	if _, ok := Reduce(r, Options{Large: 3_000}); !ok {
		t.Error("the result is not reduced although it is large")
	}
}

func FuzzReduce(f *testing.F) {
	for _, s := range samples {
		for i := range Names() {
			f.Add(s.make(1500), uint8(i), string(s.call.Args))
		}
	}
	f.Add("a.go-12-x.y-5-z\na.go-12-x.y-5-z\n"+strings.Repeat("q\n", 200), uint8(6), "{}")
	f.Add(strings.Repeat("x\n", 3)+"x × 3\nx × 3\n"+strings.Repeat("long line of words\n", 30), uint8(5), "{}")
	f.Fuzz(func(t *testing.T, text string, which uint8, args string) {
		names := Names()
		r := &Result{Text: text, Call: Call{Tool: "tool", Args: []byte(args)}, Tokens: len(text) / 4, Said: []string{args}}
		o := only(names[int(which)%len(names)])
		o.Large = 100
		if broken := holds(r, o); broken != "" {
			t.Errorf("%s: %s", names[int(which)%len(names)], broken)
		}
	})
}

func BenchmarkReduce(b *testing.B) {
	for _, s := range samples {
		r := s.result(1 << 20)
		b.Run(s.name, func(b *testing.B) {
			b.SetBytes(int64(len(r.Text)))
			for b.Loop() {
				Reduce(r, Options{})
			}
		})
	}
}

func TestReduceKeepsErrorsBeyondTheRoom(t *testing.T) {
	text := upTo(60_000, func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "step %d of the build says nothing at all\nstep %d says so, too\nanother line of step %d\n", i, i, i)
		if i%4 == 0 {
			fmt.Fprintf(b, "error: step %d has no output\n", i)
		}
	})
	out, ok := Reduce(&Result{Text: text, Call: command("make"), Tokens: 15_000}, Options{Large: 300})
	got := out.Render(text, 9, testRef)
	if n := strings.Count(got, "error: step"); !ok || n != strings.Count(text, "error: step") {
		t.Errorf("%d of %d errors are left", n, strings.Count(text, "error: step"))
	}
}
