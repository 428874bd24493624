package transport_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// Two conversations of one agent share their past. Each conversation continues with the
// recalls of its own model.
func TestConversationsWithTheSamePastContinueTheirOwnRounds(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		if f.flows() {
			t.Skip("both conversations show the same parts of an answer")
		}
		for _, same := range []bool{false, true} {
			if same && f.wire == provider.Gemini {
				continue // Gemini's calls have no ids
			}
			r, body, ref := recalling(t, f)
			var went, back [2]string
			for i, what := range []string{ref, "turn:4"} {
				n, id := 900, 900+i
				if !same {
					n = id
				}
				read := provider.Call{ID: fmt.Sprintf("c%d", id), Name: "read", Args: fmt.Sprintf(`{"n":%d}`, n)}
				if back[i] = f.callAgain(id); f.wire == provider.Gemini {
					read.ID = ""
				} else if same {
					back[i] = strings.ReplaceAll(back[i], `n\":901`, `n\":900`)
					back[i] = strings.ReplaceAll(back[i], `"n":901`, `"n":900`)
				}
				r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(what)}}, provider.Answer{Calls: []provider.Call{read}})
				if status, answer := r.post(f, body); status != http.StatusOK {
					t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
				}
				went[i] = r.got()[len(r.got())-1]
			}
			for i := range went {
				if status, answer := r.post(f, more(body, back[i])); status != http.StatusOK {
					t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
				}
				got := r.got()[len(r.got())-1]
				if head := strings.TrimSuffix(went[i], "]}"); !strings.HasPrefix(got, head) {
					t.Errorf("same call %v: conversation %d continues from another round:\n%s\n%s", same, i, tail(head, 600), tail(got, 900))
				}
			}
			r.allOK(f)
		}
	})
}

// Two answers have the same words, each with a recall beside another call. Only the
// recall of the continued conversation is put back. With both, the model would read
// text that it never requested.
func TestRoundOfAnswersWithEqualTextIsRestoredOnce(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r, body, ref := recalling(t, f)
		recalled := [2]string{ref, "turn:4"}
		before := r.got()[len(r.got())-1]
		for i, what := range recalled {
			read := provider.Call{ID: fmt.Sprintf("c%d", 900+i), Name: "read", Args: fmt.Sprintf(`{"n":%d}`, 900+i)}
			if f.wire == provider.Gemini {
				read.ID = ""
			}
			r.server.Answer(provider.Answer{Text: "Both.", Calls: []provider.Call{recallOf(what), read}})
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
			}
		}
		for i := range recalled {
			if status, answer := r.post(f, more(body, f.callAgainAfter("Both.", 900+i))); status != http.StatusOK {
				t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
			}
			last := r.got()[len(r.got())-1]
			for k, what := range recalled {
				want := 0
				if k == i {
					want = 1
				}
				if n := strings.Count(last, what) - strings.Count(before, what); n != want {
					t.Errorf("conversation %d holds %d times what conversation %d recalled:\n%s\nwant %d", i, n, k, tail(last, 1200), want)
				}
			}
		}
		r.allOK(f)
	})
}

// A recall beside another call is not put into a history that is equal only at its end: its
// result may be of a text that this history never had.
func TestARecallBesideACallStaysInItsHistory(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		r, body, _ := recalling(t, f)
		read := provider.Call{ID: "c900", Name: "read", Args: `{"n":900}`}
		if f.wire == provider.Gemini {
			read.ID = ""
		}
		r.server.Answer(provider.Answer{Text: "Both.", Calls: []provider.Call{recallOf("turn:5"), read}})
		r.post(f, body)
		next := more(body, f.callAgainAfter("Both.", 900))
		for _, other := range []bool{true, false} {
			sent := next
			if other {
				sent = strings.Replace(next, "file 40:", "other file:", 1)
			}
			if status, answer := r.post(f, sent); status != http.StatusOK {
				t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
			}
			if last := r.got()[len(r.got())-1]; strings.Contains(last, "turn:5") == other {
				t.Errorf("another history %v: %s", other, tail(last, 900))
			}
		}
		r.allOK(f)
	})
}

// A session continues on another wire. A hidden round of the first wire would be refused
// there, although both wires write the conversation before it in the same way.
func TestRoundsStayOnTheirWire(t *testing.T) {
	said := map[provider.Wire]string{
		provider.Chat:      `{"role":"user","content":"Hi."},{"role":"assistant","content":"Done."},{"role":"user","content":"More."}`,
		provider.Responses: `{"role":"user","content":"Hi."},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]},{"role":"user","content":"More."}`,
		provider.Anthropic: `{"role":"user","content":"Hi."},{"role":"assistant","content":[{"type":"text","text":"Done."}]},{"role":"user","content":"More."}`,
		provider.Gemini:    `{"role":"user","parts":[{"text":"Hi."}]},{"role":"model","parts":[{"text":"Done."}]},{"role":"user","parts":[{"text":"More."}]}`,
	}
	body := func(f form, to int) string {
		var elems []json.RawMessage
		if err := json.Unmarshal([]byte("["+said[f.wire]+"]"), &elems); err != nil {
			t.Fatal(err)
		}
		list, err := json.Marshal(elems[:to])
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{%s,%q:%s}`, f.fields, shapes[f.wire].list, list)
	}
	for _, first := range forms() {
		for _, then := range forms() {
			first, then := first.withTools(), then.withTools()
			r := newRig(t, compact.Config{}, transport.Recall())
			r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf("turn:1")}}, provider.Answer{Text: "Done."})
			r.post(first, body(first, 1))
			r.post(then, body(then, 3))
			r.allOK(then)
			if got := len(r.got()); got != 3 {
				t.Errorf("%s, %s: %d requests, want 3", first, then, got)
			}
			if back := strings.Contains(r.got()[len(r.got())-1], "turn:1"); back != (first.wire == then.wire) {
				t.Errorf("%s, %s: the round is in the next request: %v", first, then, back)
			}
		}
	}
}

// A caller replaces the ids of calls, or continues with the answer that another process got
// for the same request. A remembered answer then takes the ids of the caller's results:
// with its own ids the provider would refuse the conversation for good.
func TestRoundsTakeTheIDsOfTheCaller(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		for _, beside := range []bool{true, false} {
			r, body, ref := recalling(t, f)
			read := provider.Call{ID: "c900", Name: "read", Args: `{"n":900}`}
			words := "Both."
			if beside {
				r.server.Answer(provider.Answer{Text: "Both.", Calls: []provider.Call{recallOf(ref), read}})
			} else {
				r.server.Answer(provider.Answer{Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Text: "Both.", Calls: []provider.Call{read}})
				if f.flows() {
					words = `Let me see.\n\nBoth.`
				}
			}
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
			}
			back := strings.ReplaceAll(f.callAgainAfter(words, 900), `"c900"`, `"x900"`)
			if f.wire == provider.Responses && !beside && f.flows() {
				back = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Let me see."}]},` + strings.ReplaceAll(f.callAgainAfter("Both.", 900), `"c900"`, `"x900"`)
			}
			if status, answer := r.post(f, more(body, back)); status != http.StatusOK {
				t.Fatalf("beside %v: %d %s, want %d", beside, status, answer, http.StatusOK)
			}
			last := r.got()[len(r.got())-1]
			if strings.Contains(last, `"c900"`) || f.wire != provider.Gemini && strings.Count(last, `"x900"`) != 2 || !strings.Contains(last, `"ref\":`) && !strings.Contains(last, `"ref":`) {
				t.Errorf("beside %v: %s", beside, tail(last, 1200))
			}
			r.allOK(f)
		}
	})
}
