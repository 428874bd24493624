package s3

import (
	"context"
	"fmt"
	"github.com/agentcompact/compact/internal/testkey"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/all"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// listener forwards requests to a server and records them.
type listener struct {
	*httptest.Server
	mu    sync.Mutex
	notes []string
}

func listen(t testing.TB, s *s3test.Server) *listener {
	t.Helper()
	l, front := &listener{}, s.Front(t)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.notes = append(l.notes, fmt.Sprint(r.Method, " ", r.URL.RequestURI(), " ", r.Header.Get("Range")))
		l.mu.Unlock()
		front.ServeHTTP(w, r)
	}))
	t.Cleanup(l.Close)
	return l
}

// during returns the requests that f makes.
func (l *listener) during(f func()) []string {
	l.mu.Lock()
	l.notes = nil
	l.mu.Unlock()
	f()
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.notes)
}

func manager(t testing.TB, endpoint, bucket string) *compact.CompactManager {
	t.Helper()
	cfg, err := configs.Parse("f.yaml", fmt.Appendf(nil, `
model: gpt-4
max_context_tokens: 4000
storage: {adapter: s3, bucket: %q, prefix: team/agents, endpoint: %q, path_style: true}
`, bucket, endpoint))
	if err != nil {
		t.Fatal(err)
	}
	m, err := compact.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(context.Background()); err != nil { // the test's own context has ended
			t.Error(err)
		}
	})
	return m
}

var (
	page = regexp.MustCompile(`^GET /\S+/turns-\d+\.idx\?\S* bytes=(\d+)-(\d+)$`)
	span = regexp.MustCompile(`^GET /\S+/transcript-\S+\.jsonl\?\S* bytes=\d+-\d+$`)
)

func isPage(request string) bool {
	m := page.FindStringSubmatch(request)
	if m == nil {
		return false
	}
	first, err1 := strconv.Atoi(m[1])
	last, err2 := strconv.Atoi(m[2])
	return err1 == nil && err2 == nil && last-first+1 == 4096
}

// TestRecallIsTwoRangedGetsOnARealServer counts the requests: a recall by a
// manager of another process costs one page of the index and one range of the
// transcript, once it has read the headers.
func TestRecallIsTwoRangedGetsOnARealServer(t *testing.T) {
	for name, server := range map[string]func(testing.TB) *s3test.Server{"versitygw": s3test.Versitygw, "MinIO": s3test.MinIO} {
		t.Run(name, func(t *testing.T) {
			s := server(t)
			l := listen(t, s)
			bucket := s.Bucket(t, false)
			results := evicted(t, manager(t, l.URL, bucket))
			other := manager(t, l.URL, bucket)
			recall := func(m message.Message) {
				text, err := other.Recall(t.Context(), "s", testkey.Ref(m.Parts[0]))
				if err != nil || text != m.ResultText() {
					t.Fatalf("recalled %.60q, %v; want %.60q", text, err, m.ResultText())
				}
			}
			for _, m := range results { // reads the headers
				recall(m)
			}
			two := 0
			for _, m := range results {
				asked := l.during(func() { recall(m) })
				if len(asked) == 2 && isPage(asked[0]) && span.MatchString(asked[1]) {
					two++
				} else {
					t.Log(strings.Join(asked, ", "))
				}
			}
			t.Logf("%d of %d by one page and one range", two, len(results))
			if two*100 < 99*len(results) || len(results) < 100 {
				t.Errorf("%d of %d results were recalled by two ranged GETs, want 99 of 100", two, len(results))
			}
		})
	}
}

// evicted makes a session with five compactions, and returns the results that left the
// view.
func evicted(t testing.TB, m *compact.CompactManager) (gone []message.Message) {
	t.Helper()
	history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	var view []message.Message
	for range 5 {
		for range 25 {
			call := fmt.Sprintf("c%d", len(history))
			history = append(history, message.Assistant("", message.Call(call, "run", fmt.Sprintf(`{"cmd":"go test ./%s"}`, call))),
				message.ToolResult(call, strings.Repeat("a line of the output of "+call+"\n", 12)))
		}
		res, err := m.ManualCompact(t.Context(), "s", history, "")
		if err != nil {
			t.Fatal(err)
		}
		view = res.Messages
	}
	for _, h := range history {
		there := func(v message.Message) bool { return v.ResultText() == h.ResultText() }
		if h.Role == message.RoleTool && !slices.ContainsFunc(view, there) {
			gone = append(gone, h)
		}
	}
	return gone
}
