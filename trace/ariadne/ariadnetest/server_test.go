package ariadnetest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/trace/ariadne/ariadnetest"
)

func open(t *testing.T) *ariadnetest.Server {
	t.Helper()
	srv := ariadnetest.NewServer(t)
	srv.Lenient() // these tests send faulty events on purpose
	return srv
}

func do(t *testing.T, method, url string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(answer))
}

func post(t *testing.T, srv *ariadnetest.Server, body string) (int, string) {
	t.Helper()
	return do(t, http.MethodPost, srv.URL+"/ingest", strings.NewReader(body))
}

const (
	invalidInput = `{"details":[{"path":[],"message":"Invalid input"}],"error":"Validation failed"}`
	spanHead     = `{"type":"span","trace_id":"t","span_id":"00000000000000aa"`
	traceHead    = `{"type":"trace","trace_id":"t"`
)

func TestServerAnswersBodiesAsAriadneDoes(t *testing.T) {
	for body, want := range map[string]string{
		// the envelope
		spanHead + `}`:  `200 {"count":1,"success":true}`,
		traceHead + `}`: `200 {"count":1,"success":true}`,
		`{"batch":[]}`:  `200 {"count":0,"success":true}`,
		`{"batch":[` + spanHead + `},` + traceHead + `}]}`: `200 {"count":2,"success":true}`,
		"\uFEFF" + spanHead + `}`:                          `200 {"count":1,"success":true}`,
		`[` + spanHead + `}]`:                              `400 ` + invalidInput,
		`{"events":[` + spanHead + `}]}`:                   `400 ` + invalidInput,
		`{"batch":[1]}`:                                    `400 ` + invalidInput,
		`{}`:                                               `400 ` + invalidInput,
		spanHead + `,"batch":[]}`:                          `200 {"count":0,"success":true}`,
		spanHead + "}\n" + spanHead + `}`:                  `500`,
		`{"batch":{}}`:                                     `500`,
		`{"batch":null}`:                                   `500`,
		``:                                                 `500`,
		`null`:                                             `500`,
		`"text"`:                                           `500`,
		`7`:                                                `500`,
		`{`:                                                `500`,
		"\x1f\x8b\x08\x00":                                 `500`,
		// required keys
		`{"type":"span","trace_id":"t"}`:                                            `400 ` + invalidInput,
		`{"type":"span","span_id":"s"}`:                                             `400 ` + invalidInput,
		`{"type":"log","trace_id":"t"}`:                                             `400 ` + invalidInput,
		`{"trace_id":"t"}`:                                                          `400 ` + invalidInput,
		`{"type":"trace","trace_id":1}`:                                             `400 ` + invalidInput,
		`{"type":"trace","trace_id":""}`:                                            `400 {"details":[{"path":["trace_id"],"message":"Too small: expected string to have >=1 characters"}],"error":"Validation failed"}`,
		spanHead + `,"name":"","kind":"","parent_id":""}`:                           `200 {"count":1,"success":true}`,
		`{"batch":[` + traceHead + `},` + spanHead + `,"started_at":"yesterday"}]}`: `400 {"details":[{"path":["batch",1,"started_at"],"message":"Invalid datetime"}],"error":"Validation failed"}`,
		`{"batch":[` + spanHead + `,"name":1},` + spanHead + `,"ended_at":"x"}]}`:   `400 ` + invalidInput,
		// null is not allowed anywhere
		spanHead + `,"parent_id":null}`:   `400 ` + invalidInput,
		spanHead + `,"kind":null}`:        `400 ` + invalidInput,
		spanHead + `,"name":null}`:        `400 ` + invalidInput,
		spanHead + `,"data":null}`:        `400 ` + invalidInput,
		spanHead + `,"status":null}`:      `400 ` + invalidInput,
		spanHead + `,"started_at":null}`:  `400 ` + invalidInput,
		spanHead + `,"ended_at":1}`:       `400 ` + invalidInput,
		traceHead + `,"group_id":null}`:   `400 ` + invalidInput,
		traceHead + `,"metadata":null}`:   `400 ` + invalidInput,
		traceHead + `,"started_at":null}`: `400 ` + invalidInput,
		// the enum
		spanHead + `,"status":"ok"}`:      `200 {"count":1,"success":true}`,
		spanHead + `,"status":"error"}`:   `200 {"count":1,"success":true}`,
		spanHead + `,"status":""}`:        `400 ` + invalidInput,
		spanHead + `,"status":"OK"}`:      `400 ` + invalidInput,
		spanHead + `,"status":"warning"}`: `400 ` + invalidInput,
		// metadata
		traceHead + `,"metadata":{"a":"b"}}`:  `200 {"count":1,"success":true}`,
		traceHead + `,"metadata":{"a":1}}`:    `400 ` + invalidInput,
		traceHead + `,"metadata":{"a":true}}`: `400 ` + invalidInput,
		traceHead + `,"metadata":{"a":null}}`: `400 ` + invalidInput,
		traceHead + `,"metadata":{"a":{}}}`:   `400 ` + invalidInput,
		traceHead + `,"metadata":{"a":[]}}`:   `400 ` + invalidInput,
		traceHead + `,"metadata":["a"]}`:      `400 ` + invalidInput,
		// data
		spanHead + `,"data":{"a":[1,null,{"b":2.5e300}]}}`: `200 {"count":1,"success":true}`,
		spanHead + `,"data":[]}`:                           `200 {"count":1,"success":true}`,
		spanHead + `,"data":"str"}`:                        `200 {"count":1,"success":true}`,
		// order of times, in whole milliseconds
		spanHead + `,"started_at":"2026-11-21T04:10:00.0009Z","ended_at":"2026-11-21T04:10:00.0001Z"}`: `200 {"count":1,"success":true}`,
		spanHead + `,"started_at":"2026-11-21T04:10:00.001Z","ended_at":"2026-11-21T04:10:00.000Z"}`:   `400 {"details":[{"path":["ended_at"],"message":"ended_at must be >= started_at"}],"error":"Validation failed"}`,
		spanHead + `,"started_at":"2026-11-21T04:10:00Z","ended_at":"0001-01-01T00:00:00Z"}`:           `400 {"details":[{"path":["ended_at"],"message":"ended_at must be >= started_at"}],"error":"Validation failed"}`,
		traceHead + `,"started_at":"2026-11-21T04:10:01Z","ended_at":"2026-11-21T04:10:00Z"}`:          `400 {"details":[{"path":["ended_at"],"message":"ended_at must be >= started_at"}],"error":"Validation failed"}`,
	} {
		srv := open(t)
		status, answer := post(t, srv, body)
		got := fmt.Sprint(status, " ", answer)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", body, got, want)
		}
		if refused, stored := status != 200, srv.Counts(); refused && stored.Spans+stored.Traces > 0 {
			t.Errorf("%s: something of a refused batch was stored", body)
		}
		if status != 200 && len(srv.Problems()) == 0 {
			t.Errorf("%s: refused, and no problem", body)
		}
		srv.Close()
	}
}

func TestServerKnowsTheTimestampGrammar(t *testing.T) {
	srv := open(t)
	for _, c := range []struct {
		ok    bool
		times []string
	}{
		{true, []string{
			"2026-11-21T04:10:00Z", "2026-11-21T04:10Z", "2026-11-21T04:10:00.1Z", "2026-11-21T04:10:00.123456789Z",
			"2026-11-21T04:10:00.12345678901234567890Z", "2024-02-29T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z",
		}},
		{false, []string{
			"2026-11-21T04:10:00+00:00", "2026-11-21T04:10:00+02:00", "2026-11-21T04:10:00", "2026-11-21T04:10:00z", "2026-11-21t04:10:00Z",
			"2026-11-21 04:10:00Z", "2026-11-21", "1795407000", "2026-02-30T00:00:00Z", "2026-02-29T00:00:00Z", "2026-11-21T04:10:60Z",
			"2026-11-21T24:00:00Z", "10000-01-01T00:00:00Z", " 2026-11-21T04:10:00Z", "2026-11-21T04:10:00Z ", "2026-11-21T04:10:00.Z", "",
			"2026-13-01T00:00:00Z", "2026-11-21T04:60:00Z", "2026-11-21T04Z", "2026-11-21T04:10:00Z\n",
		}},
	} {
		for _, at := range c.times {
			raw, err := json.Marshal(at)
			if err != nil {
				t.Fatal(err)
			}
			status, answer := post(t, srv, spanHead+`,"started_at":`+string(raw)+`}`)
			if (status == 200) != c.ok {
				t.Errorf("%q: %d %s", at, status, answer)
			}
		}
	}
}

func TestServerBoundsContentLengthAndNotChunks(t *testing.T) {
	srv := open(t)
	body := func(n int) string {
		head, tail := spanHead+`,"data":{"a":["`, `"]}}`
		return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
	}
	if status, _ := post(t, srv, body(262_144)); status != 200 {
		t.Errorf("262144 bytes: %d", status)
	}
	status, answer := post(t, srv, body(262_145))
	if want := `{"error":"Payload too large","message":"Request size 262145 bytes exceeds maximum of 262144 bytes"}`; status != 413 || answer != want {
		t.Errorf("262145 bytes: %d %s", status, answer)
	}
	if n := len(srv.Problems()); n == 0 {
		t.Error("a refused body is not a problem")
	}
	if status, _ := do(t, http.MethodPost, srv.URL+"/ingest", io.MultiReader(strings.NewReader(body(300_000)))); status != 200 {
		t.Errorf("300000 bytes in chunks: %d", status)
	}
	if p := srv.Problems(); !slices.ContainsFunc(p, func(s string) bool { return strings.Contains(s, "chunked") }) {
		t.Errorf("a chunked body is not a problem: %v", p)
	}
}

func TestServerKeepsOnlyKnownFields(t *testing.T) {
	srv := open(t)
	post(t, srv, spanHead+`,"name":"n","timestamp":1,"duration_ms":2,"payload":"x","group_id":"g","metadata":{},"data":{"z":1,"a":2}}`)
	post(t, srv, traceHead+`,"status":"ok","data":{},"span_id":"s"}`)
	got := srv.Received()
	if len(got) != 2 || got[0].GroupID != "" || got[0].Metadata != nil || got[1].Data != nil || got[1].SpanID != "" {
		t.Errorf("received %+v", got)
	}
	if want := []string{"z", "a"}; !slices.Equal(got[0].DataKeys, want) {
		t.Errorf("keys of data = %v, want %v", got[0].DataKeys, want)
	}
	problems := strings.Join(srv.Problems(), "\n")
	for _, key := range []string{"timestamp", "duration_ms", "payload", "group_id", "metadata", "status", "data", "span_id"} {
		if !strings.Contains(problems, fmt.Sprintf("key %q is silently stripped", key)) {
			t.Errorf("no problem names the key %s", key)
		}
	}
}

func TestServerCutsLongTextsByUTF16Units(t *testing.T) {
	srv := open(t)
	const emoji = "😀" // two units
	text := strings.Repeat(emoji, 51_201)
	post(t, srv, spanHead+`,"name":"`+strings.Repeat("n", 1025)+`","data":{"o":{"cut":"`+text+`"}}}`)
	post(t, srv, spanHead+`,"data":{"fits":"`+strings.Repeat("x", 102_400)+`","list":["`+strings.Repeat("x", 110_000)+`"]}}`)
	post(t, srv, spanHead+`,"data":{"just":"`+text[len(emoji):]+`"}}`)
	got := srv.Received()
	if want := strings.Repeat("n", 1024) + "... [truncated]"; got[0].Name != want {
		t.Errorf("name has %d characters", len(got[0].Name))
	}
	if s := got[1].Data["fits"].(string); len(s) != 102_400 {
		t.Errorf("a string that fits has %d characters", len(s))
	}
	if s := got[2].Data["just"].(string); s != text[len(emoji):] {
		t.Errorf("a string that just fits has %d bytes", len(s))
	}
	if s := got[0].Data["o"].(map[string]any)["cut"].(string); s != strings.Repeat(emoji, 51_200)+"... [truncated]" {
		t.Errorf("a long string has %d bytes", len(s))
	}
	if s := got[1].Data["list"].([]any)[0].(string); len(s) != 110_000 {
		t.Errorf("a string in an array has %d characters", len(s))
	}
	if p := strings.Join(srv.Problems(), "\n"); !strings.Contains(p, "data.o.cut has 102402 UTF-16 units") {
		t.Errorf("problems: %s", p)
	}
}

func TestServerReportsInvalidUTF8(t *testing.T) {
	srv := open(t)
	if status, _ := post(t, srv, spanHead+",\"name\":\"\xff\"}"); status != 200 || srv.Received()[0].Name != "\uFFFD" {
		t.Errorf("%d, name %q", status, srv.Received()[0].Name)
	}
	if p := strings.Join(srv.Problems(), "\n"); !strings.Contains(p, "not UTF-8") {
		t.Errorf("problems: %s", p)
	}
}

func TestServerHasNoOtherEndpoints(t *testing.T) {
	srv := open(t)
	for _, r := range []string{"PUT /ingest", "GET /ingest", "POST /ingest/", "DELETE /events", "GET /traces", "POST /"} {
		method, path, _ := strings.Cut(r, " ")
		if status, _ := do(t, method, srv.URL+path, nil); status != 404 {
			t.Errorf("%s: %d", r, status)
		}
	}
	if n := len(srv.Problems()); n != 6 {
		t.Errorf("%d problems, want 6", n)
	}
	post(t, srv, spanHead+`}`)
	if status, answer := do(t, http.MethodGet, srv.URL+"/healthz", nil); status != 200 || !strings.Contains(answer, `"events":{"capacity":10000,"count":1}`) {
		t.Errorf("healthz: %d %s", status, answer)
	}
	if status, answer := do(t, http.MethodGet, srv.URL+"/", nil); status != 200 || !strings.Contains(answer, "/ingest") {
		t.Errorf("/: %d %s", status, answer)
	}
	if status, _ := do(t, http.MethodOptions, srv.URL+"/ingest", nil); status != 204 {
		t.Errorf("OPTIONS: %d", status)
	}
}

func TestServerStreamsNewEvents(t *testing.T) {
	srv := open(t)
	post(t, srv, spanHead+`,"name":"before"}`)
	frames := subscribe(t, srv.URL+"/events?kinds=k&traceId=t")
	if f := <-frames; !strings.HasPrefix(f, `{"timestamp":`) || !strings.Contains(f, `"connected"`) {
		t.Fatalf("first frame = %s", f)
	}
	post(t, srv, spanHead+`,"name":"no kind"}`)
	post(t, srv, `{"type":"span","trace_id":"other","span_id":"s","kind":"k"}`)
	post(t, srv, traceHead+`,"name":"a trace"}`)
	post(t, srv, spanHead+`,"kind":"k","name":"wanted"}`)
	for _, want := range []string{`"name":"a trace"`, `"name":"wanted"`} {
		select {
		case f := <-frames:
			if !strings.Contains(f, want) {
				t.Errorf("frame = %s, want %s", f, want)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("no frame with %s", want)
		}
	}
	if status, _ := do(t, http.MethodGet, srv.URL+"/events?since=yesterday", nil); status != 400 {
		t.Errorf("an invalid since: status %d", status)
	}
}

func subscribe(t *testing.T, url string) <-chan string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	frames := make(chan string, 16)
	go func() {
		for s := bufio.NewScanner(resp.Body); s.Scan(); {
			if data, ok := strings.CutPrefix(s.Text(), "data: "); ok {
				frames <- data
			}
		}
	}()
	return frames
}

// The body in ../shared that the real viewer shows well must not be a problem here
// either, apart from the known differences of the sample.
func TestServerFindsNoFaultWithTheSharedSample(t *testing.T) {
	body := sharedSample(t)
	srv := open(t)
	if status, answer := post(t, srv, string(body)); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	for _, p := range srv.Problems() {
		t.Errorf("problem: %s", p)
	}
}

func sharedSample(t *testing.T) []byte {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for !exists(filepath.Join(dir, "go.mod")) {
		if dir == filepath.Dir(dir) {
			t.Fatal("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	body, err := os.ReadFile(filepath.Join(dir, "..", "shared", "ariadne-sample-batch.json"))
	if err != nil {
		t.Skip("the sample batch is absent; it is expected at ../shared/ariadne-sample-batch.json, beside the repository")
	}
	return bytes.TrimSpace(body)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
