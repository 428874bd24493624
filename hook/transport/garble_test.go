package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/garble"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/samples"
)

// TestDamagedAnswersEndWithoutPanic changes answers of providers in places where another
// version of the API would send another type, or nothing. Answers that do not call the
// recall tool reach the caller as they are.
func TestDamagedAnswersEndWithoutPanic(t *testing.T) {
	for k, f := range forms() {
		t.Run(f.String()+" "+f.path, func(t *testing.T) {
			calls := []provider.Call{{ID: "ours", Name: "recall", Args: `{"ref":"turn:1"}`}, {ID: "c1", Name: "read", Args: `{"n":1}`}}
			good := strings.Join(recordedAs(t, f, provider.Answer{Text: "Four five."}), "")
			whole := strings.Join(recordedAs(t, f, provider.Answer{Reasoning: "Hm.", Text: "One two three.", Calls: calls}), "")
			ours := strings.Join(recordedAs(t, f, provider.Answer{Reasoning: "Hm.", Text: "One two three.", Calls: calls[1:]}), "")
			r, body, _ := recalling(t, f)
			panics := transport.OnError(func(_ context.Context, err error) {
				if errors.Is(err, compact.ErrInternal) {
					t.Error(err)
				}
			})
			media := "application/json"
			if f.stream && !f.array() {
				media = "text/event-stream"
			}
			change := garble.Documents(uint64(k))
			// One transport serves all answers, as in a program: it parses the history once.
			var answers http.RoundTripper
			base := sender(func(q *http.Request) (*http.Response, error) { return answers.RoundTrip(q) })
			r.client = &http.Client{Transport: transport.New(r.m, transport.Recall(), panics, transport.Base(base))}
			for i := range samples.Of(600) {
				sent := damagedAnswer(change, []string{whole, ours}[i%2])
				answers = scripted(ok, media, "", strings.NewReader(sent), strings.NewReader(good), strings.NewReader(good))
				resp, err := r.client.Do(r.request(transport.WithSession(context.Background(), "s"), f.path, body))
				if err != nil {
					t.Fatalf("%v: %s", err, sent)
				}
				got, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if !strings.Contains(sent, "recall") && (err != nil || string(got) != sent) {
					t.Errorf("%v\nsent %s\ngot  %s", err, sent, got)
				}
			}
		})
	}
}

// damagedAnswer changes a document, or the data of the events of a stream.
func damagedAnswer(change func(string) string, answer string) string {
	lines := strings.SplitAfter(answer, "\n")
	if !strings.Contains(answer, "data: ") {
		return change(answer)
	}
	for i, line := range lines {
		if data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data: "); ok && i%3 == len(data)%3 {
			lines[i] = "data: " + change(data) + "\n"
		}
	}
	return strings.Join(lines, "")
}

// A block that is no object could not be sent back to the provider, so the answer reaches
// the caller as it is, with its call of the recall tool.
func TestAnAnswerWithABlockThatIsNoObjectIsPassedOn(t *testing.T) {
	f := forms()[5]
	answer := strings.Join(recordedAs(t, f, provider.Answer{Reasoning: "Hm.", Text: "One.", Calls: []provider.Call{{ID: "ours", Name: "recall", Args: `{"ref":"turn:1"}`}}}), "")
	begin := strings.Index(answer, `"content_block":{`)
	end := strings.Index(answer[begin:], "}") + begin + 1
	sent := answer[:begin] + `"content_block":null` + answer[end:]
	r, body, _ := recalling(t, f)
	r.client = &http.Client{Transport: transport.New(r.m, transport.Recall(), transport.OnError(func(_ context.Context, err error) { t.Error(err) }), transport.Base(scripted(ok, "text/event-stream", "", strings.NewReader(sent))))}
	resp, err := r.client.Do(r.request(transport.WithSession(context.Background(), "s"), f.path, body))
	if _, got := r.read(resp, err); !strings.Contains(got, `"content_block":null`) || !strings.Contains(got, "ours") {
		t.Errorf("sent %s\ngot  %s\nwant text with %q and text with %q", sent, got, `"content_block":null`, "ours")
	}
}

// TestDamagedRequestsAreNotMadeWorse changes long requests in places where another SDK would
// send another type, or nothing. A request that the provider accepts stays acceptable when it
// is compacted.
func TestDamagedRequestsAreNotMadeWorse(t *testing.T) {
	for k, f := range forms() {
		t.Run(f.String()+" "+f.path, func(t *testing.T) {
			change, whole := garble.Documents(uint64(100+k)), f.body("hi", 24, 200)
			r := newRig(t, compact.Config{MaxContextTokens: 5_000})
			r.server.Lenient = true
			accepted, smaller := 0, 0
			for i := range samples.Of(160) {
				body := change(whole)
				if len(provider.NewJudge(f.wire).Judge([]byte(body))) > 0 {
					continue
				}
				before := len(r.got())
				_, _ = r.do(r.request(transport.WithSession(context.Background(), fmt.Sprintf("s%d", i)), f.path, body))
				got := r.got()[before:]
				if len(got) != 1 {
					t.Fatalf("%d requests, want 1", len(got))
				}
				for _, refusal := range provider.NewJudge(f.wire).Judge([]byte(got[0])) {
					t.Errorf("%v\nof %s\n-> %s", refusal, body, got[0])
				}
				if accepted++; len(got[0]) < len(body) {
					smaller++
				}
			}
			for _, err := range r.errs {
				if errors.Is(err, compact.ErrInternal) {
					t.Error(err)
				}
			}
			if smaller == 0 {
				t.Errorf("none of %d accepted requests was compacted", accepted)
			}
		})
	}
}
