package compact_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/canary"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
	"github.com/agentcompact/compact/trace/console"
	"github.com/agentcompact/compact/trace/otel"
	"github.com/agentcompact/compact/trace/tracetest"
)

// sink keeps all data that is written or posted to it.
type sink struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *sink) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(s, r.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// leakySummarizer is a summarizer that puts secrets into its answers and errors, and
// keeps its requests.
type leakySummarizer struct {
	asked  *sink
	answer string
	err    error
}

func (s leakySummarizer) Describe() strategy.Info {
	return strategy.Info{Name: "openai", Model: "small", Remote: true}
}

func (s leakySummarizer) Summarize(_ context.Context, r strategy.Request) (strategy.Draft, error) {
	fmt.Fprintln(s.asked, r.Previous)
	for _, m := range append(slices.Clone(r.Messages), r.Visible...) {
		fmt.Fprintln(s.asked, string(openai.AppendMessage(nil, m)))
	}
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] the tests of the module pass\n## Key entities\n" + s.answer}, s.err
}

// leaking is an archive whose errors contain a secret.
type leaking struct {
	storage.Archive
	word, secret string
}

func (l leaking) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.Contains(k.String(), l.word) {
		return errors.New("put refused: " + l.secret)
	}
	return l.Archive.Create(ctx, k, b)
}

// outputs is everything that leaves a manager.
type outputs struct {
	t       *testing.T
	dir     string
	redact  bool
	server  *ariadnetest.Server
	sinks   map[string]*sink
	otlp    *httptest.Server
	fresh   []canary.Secret // secrets to plant next
	planted []canary.Secret
	counted []canary.Secret // secrets in places that are never written, so redaction skips them
	tweak   func(*compact.Config)
}

func watch(t *testing.T, redact bool) *outputs {
	w := &outputs{t: t, dir: t.TempDir(), redact: redact, server: ariadnetest.NewServer(t), fresh: canary.Secrets(90, 7), sinks: map[string]*sink{}}
	for _, name := range []string{"otlp", "console", "console json", "stderr", "prompts"} {
		w.sinks[name] = &sink{}
	}
	w.otlp = httptest.NewServer(w.sinks["otlp"])
	t.Cleanup(w.otlp.Close)
	return w
}

// plant returns the next secret in its text.
func (w *outputs) plant() string { return w.take(func(canary.Secret) bool { return true }).Text }

// bare returns the next secret with a form that shows that it is a secret.
func (w *outputs) bare() string {
	return w.take(func(s canary.Secret) bool {
		return slices.ContainsFunc([]string{"ghp_", "sk-proj-", "AKIA", "xoxb-", "eyJ"}, func(p string) bool { return strings.HasPrefix(s.Value, p) })
	}).Value
}

func (w *outputs) take(is func(canary.Secret) bool) canary.Secret {
	i := slices.IndexFunc(w.fresh, is)
	s := w.fresh[i]
	w.fresh = slices.Delete(w.fresh, i, i+1)
	w.planted = append(w.planted, s)
	return s
}

// run makes a manager that is watched, and closes it after f.
func (w *outputs) run(c compact.Config, f func(m *compact.CompactManager)) {
	w.t.Helper()
	full, err := compact.Preset("graduated")
	if err != nil {
		w.t.Fatal(err)
	}
	full.Model, full.MaxContextTokens, full.Storage.Transcripts = "gpt-4", 8_000, "all"
	full.Archive, full.Summarize, full.Storage.OnError = c.Archive, c.Summarize, c.Storage.OnError
	if full.Archive == nil {
		full.Archive = mustOpen(w.t, w.dir)
	}
	if full.Storage.OnError == "" {
		full.Storage.OnError = "fail"
	}
	full.Redaction.Enabled = w.redact
	toCollector, err := otel.NewOTLP(w.t.Context(), w.otlp.URL, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	full.Exporters = []trace.Exporter{
		ariadne.New(w.server.URL, &ariadne.Options{ErrorLog: w.sinks["stderr"]}), ariadne.New(tracetest.DeadURL(w.t), &ariadne.Options{ErrorLog: w.sinks["stderr"]}),
		console.New(w.sinks["console"], &console.Options{Width: -1}), console.New(w.sinks["console json"], &console.Options{JSON: true}), toCollector,
	}
	if w.tweak != nil {
		w.tweak(&full)
	}
	m, err := compact.New(context.Background(), full)
	if err != nil {
		w.t.Fatal(err)
	}
	f(m)
	_ = m.Close(context.Background()) // some archives of these tests also fail here
}

// history plants secrets in every part of a message that can hold text.
func (w *outputs) history() []message.Message {
	quoted := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			w.t.Fatal(err)
		}
		return string(b)
	}
	msgs := []message.Message{message.System("You fix bugs. " + w.plant()), message.User("First: " + w.plant()), message.Assistant("I know: " + w.plant())}
	msgs[0].Protected = true
	named := message.User("hello")
	named.Name = "bot token " + w.bare()
	file := message.User("see the file")
	file.Parts = append(file.Parts, message.Part{Kind: message.KindFile, Media: &message.Media{MIME: "text/plain", Name: w.bare() + ".txt"}},
		message.Part{Kind: message.KindImage, Media: &message.Media{MIME: "image/png", URL: "https://x:" + w.bare() + "@files.internal/a.png"}})
	msgs = append(msgs, named, file)
	protected := message.User("keep this: " + w.plant())
	protected.Protected = true
	msgs = append(msgs, protected)
	for range 8 {
		msgs = append(msgs, message.User("also "+w.plant()), message.Assistant("I will keep in mind: "+w.plant()))
	}
	for i := range 60 {
		id, tool, args, result := fmt.Sprintf("call_%d", i), "bash", `{"command":"ls"}`, text(150)
		switch i {
		case 2, 3, 4:
			args = `{"command":` + quoted("echo "+w.plant()) + `}`
		case 5, 6: // JSON in JSON
			args = `{"body":` + quoted(`{"inner":`+quoted(w.plant())+`}`) + `}`
		case 7, 8, 9, 50:
			result = text(50) + "\n" + w.plant() + "\n" + text(100)
		case 10, 11, 51:
			result = `{"stdout":` + quoted(w.plant()) + `,"more":"` + text(150) + `"}`
		case 12, 13:
			result = `{"stdout":` + quoted(`{"deep":`+quoted(w.plant())+`}`) + `}`
		case 14:
			id = "call_" + w.bare()
		case 15:
			tool = w.bare()
		}
		msgs = append(msgs, message.Assistant("", message.Call(id, tool, args)), message.ToolResult(id, result))
	}
	return append(msgs, message.Assistant("Nearly done: "+w.plant()), message.User("Go on with "+w.plant()))
}

// everyWayOut calls a manager in all ways that store or send something.
func (w *outputs) everyWayOut() {
	ctx := context.Background()
	// Tool schemas are counted, but are in no output, not even with redaction
	// off.
	tools := json.RawMessage(`[{"type":"function","function":{"name":"t","description":` + fmt.Sprintf("%q", w.plant()) + `}}]`)
	w.counted, w.planted = w.planted, nil
	history := w.history()
	session, agent, branch, model := w.bare(), w.bare(), w.bare(), "gpt-4-"+w.bare()
	note := w.plant()
	answer := leakySummarizer{asked: w.sinks["prompts"], answer: "- " + w.planted[1].Text + "\n- " + w.planted[4].Text}
	w.run(compact.Config{Summarize: answer}, func(m *compact.CompactManager) {
		res, err := m.Preflight(ctx, session, history, compact.WithAgent(agent), compact.WithBranch(branch), compact.WithTools(tools))
		if err != nil || !res.Triggered {
			w.t.Errorf("Preflight: %v, triggered %v; want no error and true", err, res.Triggered)
		}
		_, err = m.ManualCompact(ctx, "manual", history, note, compact.WithModel(model), compact.WithBranch(branch))
		err = errors.Join(err, m.Archive(ctx, "final", history), m.Flush(ctx))
		if err != nil {
			w.t.Error(err)
		}
	})
	failure := leakySummarizer{asked: w.sinks["prompts"], err: errors.New("answer 400: " + w.plant())}
	w.run(compact.Config{Summarize: failure}, func(m *compact.CompactManager) {
		if _, err := m.ManualCompact(ctx, "failing", history, ""); err != nil {
			w.t.Error(err)
		}
	})
	for _, word := range []string{"transcript-", "ledger-"} {
		for _, on := range []string{"fail", "continue"} {
			c := compact.Config{Archive: leaking{mustOpen(w.t, w.dir), word, w.plant()}}
			c.Storage.OnError = on
			w.run(c, func(m *compact.CompactManager) { _, _ = m.Preflight(ctx, strings.ToUpper(word)+on, history) })
		}
	}
	detail := w.plant()
	w.run(compact.Config{}, func(m *compact.CompactManager) {
		_, _ = m.ManualCompact(ctx, "illegal", history, "", compact.WithRequest(&ruled{msgs: history, check: func(view []message.Message, _ []int) []wire.Violation {
			if slices.ContainsFunc(view, policy.IsSummary) {
				return []wire.Violation{{Check: "no_summaries", Detail: detail}}
			}
			return nil
		}}))
	})
}

// places returns all data that left the manager, by destination.
func (w *outputs) places() map[string]string {
	all := map[string]string{"Ariadne": string(bytes.Join(w.server.Bodies(), nil))}
	for name, s := range w.sinks {
		all[name] = s.String()
	}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		all["the names of files"] += rel + "\n"
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all["the archive"] += string(data)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// No stored, sent or logged data contains a secret in any form. The secret is in each
// part of the input once. The same search finds all secrets with redaction off, which
// shows that each secret was in the data.
func TestNoPlantedSecretLeavesTheManager(t *testing.T) {
	w := watch(t, true)
	w.everyWayOut()
	for place, data := range w.places() {
		if place != "stderr" && (len(data) < 100 || place != "the names of files" && !strings.Contains(data, "REDACTED")) {
			t.Errorf("%s has nothing that can be searched: the test proves nothing", place)
		}
		for i, s := range append(w.counted, w.planted...) {
			if s.Leaks(data) {
				t.Errorf("%s: secret %d of %.40q…", place, i, strings.Replace(s.Text, s.Value, "(secret)", 1))
			}
		}
	}
	if n := len(w.counted) + len(w.planted); n < 50 {
		t.Errorf("%d secrets were planted, want at least 50", n)
	}
}

func TestPlantedSecretsAreAllInTheInput(t *testing.T) {
	w := watch(t, false)
	w.everyWayOut()
	var all strings.Builder
	for _, data := range w.places() {
		all.WriteString(data)
	}
	for i, s := range w.planted {
		if !s.Leaks(all.String()) {
			t.Errorf("secret %d is in no output: %.60q", i, s.Text)
		}
	}
	t.Logf("%d secrets planted", len(w.planted))
}
