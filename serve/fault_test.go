package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// faults are the faults of an upstream, by the header X-Fault.
var faults = map[string]func(w http.ResponseWriter, r *http.Request){
	"none": func(w http.ResponseWriter, _ *http.Request) { whole(w) },
	"busy": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
	"error": func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "garbage \xff", http.StatusInternalServerError)
	},
	"garbage": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("\x00{]"))
	},
	"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"half": func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"half\":1}\n\n")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	},
	"stall": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"first\":1}\n\n")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	},
	"silence": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
}

func whole(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 4 {
		fmt.Fprintf(w, "data: {\"n\":%d}\n\n", i)
		w.(http.Flusher).Flush()
	}
}

// outcome returns the outcome of a call for a client.
func outcome(client *http.Client, req *http.Request) string {
	resp, err := client.Do(req)
	if err != nil {
		return "no answer: " + class(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.Header.Get("X-Compact-Error") == "upstream" { // otherwise the client would have seen a broken connection
		return "no answer: broken"
	}
	body, err := io.ReadAll(resp.Body)
	return fmt.Sprint(resp.StatusCode, " ", string(body), " ", class(err))
}

func class(err error) string {
	switch {
	case err == nil:
		return "whole"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "gave up"
	}
	return "broken"
}

// If the upstream, a client or the archive fails, each request ends in the same way as
// without the proxy.
func TestProxyLosesNoRequest(t *testing.T) {
	n := 160
	if os.Getenv("COMPACT_SOAK") != "" {
		n = 2000
	}
	var mu sync.Mutex
	seen := map[string][]byte{}
	up := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[r.Header.Get("X-Id")] = body
		mu.Unlock()
		faults[r.Header.Get("X-Fault")](w, r)
	})
	archive := &broken{Archive: nil}
	archive.Archive = newRigTo(t, up, compact.Config{}, serve.Config{}).archive
	r := newRigTo(t, up, compact.Config{Archive: archive}, serve.Config{NoRecall: true})
	names := []string{"none", "none", "none", "busy", "error", "garbage", "reset", "half", "stall", "silence"}
	var work sync.WaitGroup
	for k := range 8 {
		work.Go(func() {
			random := rand.New(rand.NewPCG(7, uint64(k)))
			for i := k; i < n; i += 8 {
				archive.on.Store(random.IntN(4) == 0)
				f, fault := forms()[random.IntN(len(forms()))], names[random.IntN(len(names))]
				body := f.body("Fix it.", random.IntN(70), 300)
				call := func(root, id string) string {
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					if fault == "stall" || fault == "silence" { // the client loses patience
						defer time.AfterFunc(20*time.Millisecond, cancel).Stop()
					}
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, root+f.path, bytes.NewReader([]byte(body)))
					if err != nil {
						t.Error(err)
					}
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("X-Fault", fault)
					req.Header.Set("X-Id", id)
					return outcome(r.client, req)
				}
				id := strconv.Itoa(i)
				with, without := call(r.url, id), call(up, "-"+id)
				if with != without && fault != "stall" && fault != "silence" {
					t.Errorf("request %d, %v, %s: %q with, %q without", i, f, fault, with, without)
				}
				mu.Lock()
				got, arrived := seen[id]
				mu.Unlock()
				if !arrived && fault != "silence" && fault != "stall" || len(got) > len(body) {
					t.Errorf("request %d, %v, %s: arrived %v, %d bytes of %d", i, f, fault, arrived, len(got), len(body))
				}
			}
		})
	}
	work.Wait()
	waitFor(t, func() bool { return r.metric("compact_requests_in_flight") == "0" })
}
