package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Agents of any program work at once through two processes that share an archive.
// Conversations begin with the same or with different messages, with or without a name.
// Agents go back, change earlier messages, cancel calls, and retry failed calls. The
// provider is sometimes overloaded, has a smaller window than configured, and its model
// recalls. The archive fails, or a process only observes. The test checks that no
// answer is lost, that no outgoing request breaks the provider's rules, that each
// request has the newest messages, that the archive has the missing ones, and that a
// repeated request has the same bytes.
func TestPropertyAgentsOfAnyProgram(t *testing.T) {
	n := samples.Of(60)
	switch {
	case os.Getenv("COMPACT_SOAK") == "1":
		n = 2_000
	case testing.Short():
		n = 6
	}
	went, lacked, refused := 0, 0, 0
	seeds := samples.Seeds(n)
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed)
			w.work()
			went, lacked, refused = went+w.went, lacked+len(w.lacked), refused+w.refused
		})
	}
	t.Logf("%d samples: %d requests were sent, %d messages are missing in one of them, %d calls were refused", len(seeds), went, lacked, refused)
	if !samples.Chosen() && (went < 10*n || lacked < 10*n) {
		t.Errorf("%d samples: %d requests were sent, %d messages are missing in one of them", n, went, lacked)
	}
}

// inPairs are two calls of one answer and their results on each wire; the verbs are the
// name of the agent, a number, and the results' texts.
var inPairs = map[provider.Wire]string{
	provider.Chat: `{"role":"assistant","content":null,"tool_calls":[{"id":"c%[2]d","type":"function","function":{"name":"read","arguments":"{\"of\":\"%[1]s\",\"n\":%[2]d}"}},{"id":"d%[2]d","type":"function","function":{"name":"read","arguments":"{\"n\":%[2]d}"}}]},` +
		`{"role":"tool","tool_call_id":"c%[2]d","content":%[3]q},{"role":"tool","tool_call_id":"d%[2]d","content":%[4]q}`,
	provider.Responses: `{"type":"function_call","call_id":"c%[2]d","name":"read","arguments":"{\"of\":\"%[1]s\",\"n\":%[2]d}"},{"type":"function_call","call_id":"d%[2]d","name":"read","arguments":"{\"n\":%[2]d}"},` +
		`{"type":"function_call_output","call_id":"c%[2]d","output":%[3]q},{"type":"function_call_output","call_id":"d%[2]d","output":%[4]q}`,
	provider.Anthropic: `{"role":"assistant","content":[{"type":"text","text":"I read both."},{"type":"tool_use","id":"c%[2]d","name":"read","input":{"of":%[1]q,"n":%[2]d}},{"type":"tool_use","id":"d%[2]d","name":"read","input":{"n":%[2]d}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%[2]d","content":%[3]q},{"type":"tool_result","tool_use_id":"d%[2]d","content":[{"type":"text","text":%[4]q}],"is_error":true}]}`,
	provider.Gemini: `{"role":"model","parts":[{"functionCall":{"name":"read","args":{"of":%[1]q,"n":%[2]d}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"read","args":{"n":%[2]d}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":%[3]q}}},{"functionResponse":{"name":"read","response":{"output":%[4]q}}}]}`,
}

// mode is the behavior of a process for a call that it can't compact.
type mode uint8

const (
	sendsWhole mode = iota
	strict
	observes
)

// world is a provider, two processes, and the agents that use them.
type world struct {
	t      *testing.T
	seed   uint64
	f      form
	config compact.Config
	opts   []transport.Option
	mode   mode
	recall bool
	store  *flaky.Archive // of the config
	fails  bool           // the store fails now
	server *provider.Server
	url    string
	rigs   [2]*rig
	others []*rig // later processes
	named  string // how requests name their session

	mu      sync.Mutex
	rng     *rand.Rand // of the provider
	went    int
	refused int             // calls that could not be compacted
	lacked  map[string]bool // texts, in their JSON form
}

// program is one agent.
type program struct {
	w     *world
	name  string
	rng   *rand.Rand
	ask   string
	elems []string // of its history, after the question
	texts []string // the inserted messages, as JSON
	n     int
}

// outbox collects the bodies that are sent for one call of an agent.
type outbox struct {
	mu     sync.Mutex
	bodies []string
}

type outboxKey struct{}

// outgoing records the outgoing requests of each call.
type outgoing struct{ base http.RoundTripper }

func (o outgoing) RoundTrip(req *http.Request) (*http.Response, error) {
	if s, ok := req.Context().Value(outboxKey{}).(*outbox); ok && req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, string(b))
		s.mu.Unlock()
		clone := req.Clone(req.Context())
		clone.Body = io.NopCloser(bytes.NewReader(b))
		return o.base.RoundTrip(clone)
	}
	return o.base.RoundTrip(req)
}

func newWorld(t *testing.T, seed uint64) *world {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 31))
	all := forms()
	w := &world{t: t, seed: seed, f: all[rng.IntN(len(all))], server: provider.NewServer(), rng: rand.New(rand.NewPCG(seed, 32)), lacked: map[string]bool{}}
	w.f.fields = strings.NewReplacer("gpt-5", "gpt-4o", "claude-sonnet-4-5", "gpt-4o").Replace(w.f.fields)
	w.f.path = strings.Replace(w.f.path, "gemini-2.5-pro", "gpt-4o", 1)
	w.f = w.f.withTools()
	presets := []string{"graduated", "economy", "summarize"} // other presets may have no view that fits
	w.store = flaky.New(memory.New(), rand.New(rand.NewPCG(seed, 34)))
	w.config = compact.Config{Preset: presets[rng.IntN(len(presets))], MaxContextTokens: 12_000 + rng.IntN(20_000), Archive: w.store}
	w.server.Window, w.server.Count = w.config.MaxContextTokens, exactly(t, wires[w.f.wire])
	if rng.IntN(4) == 0 {
		w.server.Window = w.server.Window * 3 / 4
	}
	switch rng.IntN(6) {
	case 0:
		w.config.Summarizer.Backend = "agent"
	case 1, 2:
		w.config.Summarize = &slow{wait: time.Duration(rng.IntN(10)) * time.Millisecond}
	}
	if rng.IntN(4) == 0 {
		w.config.Sessions.MaxBytes = 1
	}
	if w.recall = rng.IntN(2) == 0; w.recall {
		w.opts = append(w.opts, transport.Recall())
	}
	w.disturb(rand.New(rand.NewPCG(seed, 35)))
	w.named = []string{"", "context", "header"}[rng.IntN(3)]
	if w.f.wire == provider.Chat && rng.IntN(2) == 0 {
		w.named = ""
		w.f.fields += []string{`,"prompt_cache_key":"agent-v1"`, `,"user":"me"`, `,"metadata":{"session_id":"s"}`}[rng.IntN(3)]
	}
	w.server.Reply = w.reply
	for i := range w.rigs {
		w.rigs[i] = w.process()
	}
	return w
}

// disturb makes the archive fail until agents have done their work, or makes processes
// observe.
func (w *world) disturb(rng *rand.Rand) {
	switch rng.IntN(8) {
	case 0:
		w.mode, w.opts = observes, append(w.opts, transport.Observe())
	case 1, 2, 3:
		if rng.IntN(3) == 0 {
			w.mode, w.opts = strict, append(w.opts, transport.Strict())
		}
		w.fails, w.store.Reads = true, rng.IntN(2) == 0
		w.store.Fails(1 + rng.IntN(10))
	}
}

// isNamed reports whether the body of a request names a session or an owner.
func (f form) isNamed() bool {
	return strings.Contains(f.fields, "prompt_cache_key") || strings.Contains(f.fields, "user") || strings.Contains(f.fields, "session_id")
}

func (w *world) process() *rig {
	w.t.Helper()
	opts := []transport.Option{transport.SessionHeader("X-Chat"), transport.Base(outgoing{http.DefaultTransport})}
	r := newRigAt(w.t, w.server, w.config, append(opts, w.opts...)...)
	if w.rigs[1] != nil {
		w.others = append(w.others, r)
	}
	if w.url == "" {
		w.url = r.url
	}
	r.url = w.url // sessions without a name are also identified by their host
	return r
}

var refInBody = regexp.MustCompile(`ref ([0-9a-f]{8,})`)

// reply returns the answer of the model: words, a call, or a recall.
func (w *world) reply(q provider.Request) provider.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	a := provider.Answer{Text: fmt.Sprint("answer ", w.rng.IntN(1000)), Cached: 100} // a cache that was cold makes a compaction nearly free
	refs := refInBody.FindAllStringSubmatch(string(q.Body), -1)
	switch w.rng.IntN(5) {
	case 0, 1:
		if w.recall && len(refs) > 0 && bytes.Contains(q.Body, []byte(`"recall"`)) {
			ref := refs[w.rng.IntN(len(refs))][1]
			a.Calls = []provider.Call{{ID: fmt.Sprint("r", w.rng.IntN(1_000_000)), Name: "recall", Args: fmt.Sprintf(`{"ref":%q}`, ref)}}
		}
	case 2:
		a.Reasoning = "Hm."
	}
	return a
}

// work runs agents at once, then one after the other, and once more in other processes.
func (w *world) work() {
	w.t.Helper()
	var all sync.WaitGroup
	var programs []*program
	rng := rand.New(rand.NewPCG(w.seed, 33))
	alike := rng.IntN(2) == 0
	for k := range 1 + rng.IntN(3) {
		p := &program{w: w, name: fmt.Sprint("agent", k), rng: rand.New(rand.NewPCG(w.seed, uint64(40+k))), ask: fmt.Sprintf("Fix module %d.", k)}
		if alike {
			p.ask = "Fix it."
		}
		programs = append(programs, p)
		all.Go(func() {
			for range 4 + p.rng.IntN(14) {
				p.step()
			}
		})
	}
	all.Wait()
	w.fails = false
	w.store.Fails(0)
	w.server.Recover()
	for _, p := range programs {
		p.settled()
	}
	w.stored()
}

// step changes an agent's history, and makes its next call.
func (p *program) step() {
	switch n := len(p.elems); {
	case n > 4 && p.rng.IntN(10) == 0: // back to an earlier point
		n = 1 + p.rng.IntN(n-1)
		p.elems, p.texts = slices.Clone(p.elems[:n]), slices.Clone(p.texts[:n])
	case n > 4 && p.rng.IntN(12) == 0: // another word somewhere
		i := p.rng.IntN(n)
		p.elems, p.texts = slices.Clone(p.elems), slices.Clone(p.texts)
		p.elems[i], p.texts[i] = p.round()
	}
	for range 1 + p.rng.IntN(9) {
		elem, text := p.round()
		p.elems, p.texts = append(p.elems, elem), append(p.texts, text)
	}
	p.call(p.w.rigs[p.rng.IntN(2)])
}

// round makes a call and its result, or an answer and the next question, and returns the
// text of the result or the answer, too.
func (p *program) round() (elem, text string) {
	p.n++
	said := p.words(250)
	in, err := json.Marshal(said)
	if err != nil {
		panic(err)
	}
	text = strings.Trim(string(in), `"`)
	switch p.rng.IntN(8) {
	case 0:
		return fmt.Sprintf(texts[p.w.f.wire], said), text
	case 1, 2:
		return fmt.Sprintf(inPairs[p.w.f.wire], p.name, p.n, p.words(60), said), text
	}
	round := strings.NewReplacer(`{\"n\":`, fmt.Sprintf(`{\"of\":\"%s\",\"n\":`, p.name), `{"n":`, fmt.Sprintf(`{"of":%q,"n":`, p.name)).Replace(shapes[p.w.f.wire].round)
	return fmt.Sprintf(round, p.n, said), text
}

// words returns some lines of at most a given number of words each.
func (p *program) words(most int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has result %d:", p.name, p.n)
	for range 1 + p.rng.IntN(4) {
		b.WriteByte('\n')
		for range p.rng.IntN(most) {
			fmt.Fprintf(&b, "w%d ", p.rng.IntN(1000))
		}
	}
	fmt.Fprintf(&b, "end of %d", p.n)
	return b.String()
}

func (p *program) body() string {
	s := shapes[p.w.f.wire]
	return fmt.Sprintf(`{%s,"%s":[`+s.ask+`,%s]}`, p.w.f.fields, s.list, p.ask, strings.Join(p.elems, ","))
}

// post makes a call and returns the sent request and the answer.
func (p *program) post(r *rig, body string, patience time.Duration) (out []string, status int, answer string, err error) {
	s := &outbox{}
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), outboxKey{}, s), patience)
	defer cancel()
	if p.w.named == "context" {
		ctx = transport.WithSession(ctx, "s")
	}
	req := r.request(ctx, p.w.f.path, body)
	if p.w.named == "header" {
		req.Header.Set("X-Chat", "chat-1")
	}
	resp, err := r.client.Do(req)
	if err == nil {
		var b []byte
		b, err = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		status, answer = resp.StatusCode, string(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies, status, answer, err
}

// call makes the next call as agents do: it cancels some calls, and retries them if the
// provider was overloaded.
func (p *program) call(r *rig) {
	w, body := p.w, p.body()
	if p.rng.IntN(12) == 0 {
		out, _, _, err := p.post(r, body, time.Duration(p.rng.IntN(8_000))*time.Microsecond)
		if p.saw(out); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			w.t.Errorf("seed %d: %s: the error of a cancelled call is %v", w.seed, p.name, err)
		}
	}
	for try := range 9 {
		if p.rng.IntN(12) == 0 {
			w.server.Fail(provider.Failure{Status: []int{429, 500, 503, 529}[p.rng.IntN(4)]})
		}
		out, status, answer, err := p.post(r, body, time.Minute)
		p.saw(out)
		switch {
		case err != nil:
			w.t.Errorf("seed %d: %s: %v", w.seed, p.name, err)
			return
		case status == http.StatusOK && strings.Contains(answer, "answer "):
			return
		case status == http.StatusBadRequest && w.refuses(out, answer):
			w.mu.Lock()
			w.refused++
			w.mu.Unlock()
			return
		case try == 8 || status < 429 || status == http.StatusOK:
			w.t.Errorf("seed %d: %v %s %s: %s is answered with %d %.300s", w.seed, w.f, w.config.Preset, w.f.fields, p.name, status, answer)
			return
		}
	}
}

// refuses reports whether an agent may get a refusal: the request was too long for the
// provider and could not be compacted, or its process is strict.
func (w *world) refuses(out []string, answer string) bool {
	if w.fails && w.mode == strict && strings.Contains(answer, flaky.Err.Error()) {
		return true
	}
	if !w.fails && w.mode != observes || len(out) == 0 {
		return false
	}
	for _, q := range w.server.Requests() { // a request to the agent's own model may have followed
		if slices.Contains(out, string(q.Body)) && w.tooLong(q) {
			return true
		}
	}
	return false
}

// tooLong reports whether a request and its answer may be more than the provider's window.
func (w *world) tooLong(q provider.Request) bool {
	room := 0
	if strings.Contains(w.f.fields, `"max_tokens":100`) {
		room = 100
	}
	return q.Prompt+room > w.server.Window
}

// saw compares the outgoing requests of a call with the agent's history.
func (p *program) saw(bodies []string) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.went += len(bodies)
	for _, b := range bodies {
		if w.mode == observes && b != p.body() {
			w.t.Errorf("seed %d: %s: a process that observes sends other bytes", w.seed, p.name)
		}
		last := p.texts[len(p.texts)-1]
		if w.config.Summarizer.Backend == "agent" && strings.Contains(b, "Copy identifiers") && !strings.Contains(b, last) {
			continue // a summary request to its own model depends on the lane's last request
		}
		// If even the smallest view does not fit, the end of the newest result is cut.
		if !strings.Contains(b, last[:min(len(last), 60)]) {
			w.t.Errorf("seed %d: %s: the newest message is not in a request: %.80s", w.seed, p.name, last)
		}
		for _, text := range p.texts {
			if !w.lacked[text] && !strings.Contains(b, text) {
				w.lacked[text] = true
			}
		}
	}
}

// settled repeats the last call, in new processes if sessions have names, otherwise in
// the process that knows them. The same bytes must be sent.
func (p *program) settled() {
	w, body := p.w, p.body()
	if w.mode == observes {
		return
	}
	var last string
	rigs := []*rig{w.rigs[0], w.rigs[0]}
	if w.named != "" || w.f.isNamed() { // a process with an open session sees the steps of others within seconds
		rigs = []*rig{w.process(), w.process(), w.process()}
	}
	if _, status, _, err := p.post(rigs[0], body, time.Minute); err != nil || status != http.StatusOK { // compacts, if that is due
		w.t.Errorf("seed %d: %s: the last call again: %d, %v; want %d and no error", w.seed, p.name, status, err, http.StatusOK)
	}
	for i, r := range rigs {
		out, status, _, err := p.post(r, body, time.Minute)
		p.saw(out)
		if err != nil || status != http.StatusOK || len(out) == 0 {
			w.t.Errorf("seed %d: %s: the last call again: %d, %v, %d requests", w.seed, p.name, status, err, len(out))
			return
		}
		if i > 0 && !slices.Contains(out, last) {
			w.t.Errorf("seed %d: %v %s %q %s: the same call for %s, try %d, sends other bytes: %d, then %d", w.seed, w.f, w.config.Preset, w.named, w.f.fields, p.name, i, len(last), len(out[0]))
		}
		last = out[0]
	}
}

// stored checks that the archive has all messages that requests lacked.
func (w *world) stored() {
	w.t.Helper()
	for _, r := range append(w.others, w.rigs[:]...) {
		if err := r.m.Close(context.Background()); err != nil {
			w.t.Error(err)
		}
		r.mu.Lock()
		for _, err := range r.errs {
			if !errors.Is(err, flaky.Err) && (w.mode != observes || !errors.Is(err, compact.ErrInsufficientBudget)) {
				w.t.Errorf("seed %d: %v", w.seed, err)
			}
		}
		r.mu.Unlock()
	}
	for _, q := range w.server.Requests() { // including requests to the agent's own model
		if q.Status == http.StatusBadRequest && !w.tooLong(q) {
			w.t.Errorf("seed %d: a request of %d tokens was refused: %v", w.seed, q.Prompt, w.server.Judge(q.Wire).Judge(q.Body))
		}
	}
	var all strings.Builder
	sessions := map[string]bool{}
	for info, err := range w.config.Archive.List(w.t.Context(), storage.Key{}) {
		if err != nil {
			w.t.Fatal(err)
		}
		rd, err := w.config.Archive.Open(w.t.Context(), info.Key, 0, -1)
		if err != nil {
			w.t.Fatal(err)
		}
		b, err := io.ReadAll(rd)
		_ = rd.Close()
		if err != nil {
			w.t.Fatal(err)
		}
		all.Write(b)
		id, err := url.PathUnescape(strings.Split(info.Key.String(), "/")[0])
		if err != nil {
			w.t.Fatal(err)
		}
		sessions[id] = true
	}
	for text := range w.lacked {
		if !strings.Contains(all.String(), text) {
			w.t.Errorf("seed %d: nowhere in the archive: %.60s", w.seed, text)
		}
	}
	for s := range sessions {
		if strings.HasPrefix(s, "_") {
			continue
		}
		report, err := record.Verify(w.t.Context(), w.config.Archive, s, record.VerifyOptions{Refs: recall.Refs, Edits: recall.EditRefs})
		if err != nil || !report.OK() {
			w.t.Errorf("seed %d: %s: %v, %v; want no error and no problems", w.seed, s, err, report.Problems)
		}
	}
}
