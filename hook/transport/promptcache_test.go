package transport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/price"
)

// wide returns a request on Anthropic's wire, with rounds of parallel calls: two blocks for
// each call. The caller marks the system prompt and the last message.
func wide(f form, rounds, calls int, marked bool) string {
	mark := ""
	if marked {
		mark = `,"cache_control":{"type":"ephemeral"}`
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{%s,"system":[{"type":"text","text":%q%s}],"messages":[{"role":"user","content":"Find the bug."}`, f.fields, strings.Repeat("Fix bugs. ", 600), mark)
	for r := range rounds {
		var asked, answered []string
		for c := range calls {
			id := fmt.Sprintf("c%d_%d", r, c)
			last := ""
			if r == rounds-1 && c == calls-1 {
				last = mark
			}
			asked = append(asked, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"read","input":{"why":%q}}`, id, strings.Repeat(fmt.Sprintf("read the part %d of it ", c), 25)))
			answered = append(answered, fmt.Sprintf(`{"type":"tool_result","tool_use_id":%q,"content":%q%s}`, id, strings.Repeat(fmt.Sprintf("line %d of %s ", c, id), 30), last))
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":[%s]},{"role":"user","content":[%s]}`, strings.Join(asked, ","), strings.Join(answered, ","))
	}
	return b.String() + "]}"
}

// reads returns what each request reads from a cache of its own, and the part of the
// previous request that was cached.
func (r *rig) reads() (read, before []int) {
	r.t.Helper()
	var cache provider.PromptCache
	last := 0
	for _, q := range r.server.Requests() {
		u, err := cache.Use(q.Body)
		if err != nil {
			r.t.Fatal(err)
		}
		read, before = append(read, u.Read), append(before, last)
		last = u.Read + u.Written
	}
	return read, before
}

// Anthropic's cache finds a prefix at most 20 blocks before a mark, so rounds of many
// parallel calls lose it. With cache.marks auto each request reads all that the previous
// one stored; with the caller's marks alone a warning has the reason.
func TestAutomaticMarksReachTheCacheBeforeManyBlocks(t *testing.T) {
	for _, f := range []form{forms()[4].withTools(), forms()[5].withTools()} {
		for _, calls := range []int{3, 14, 40} {
			for _, marks := range []string{"auto", "keep"} {
				r := newRig(t, compact.Config{MaxContextTokens: 200_000, Cache: compact.CacheConfig{Marks: marks}})
				r.server.Cache = &provider.PromptCache{}
				for rounds := 1; rounds <= 5; rounds++ {
					if status, answer := r.post(f, wide(f, rounds, calls, marks == "keep")); status != 200 {
						t.Fatalf("%d: %.300s, want 200", status, answer)
					}
				}
				read, before := r.reads()
				warned := slices.ContainsFunc(r.results, func(res *compact.Result) bool { return said(res, "more blocks than it looks back") })
				for i := 1; i < len(read); i++ {
					switch all := read[i] == before[i]; {
					case marks == "auto" || calls == 3:
						if !all || warned {
							t.Errorf("%v, %d calls, %s: request %d reads %d of %d cached tokens; warnings %q", f.wire, calls, marks, i, read[i], before[i], r.last().Warnings)
						}
					case all:
						t.Errorf("%v, %d calls, %s: request %d reads all of the cache", f.wire, calls, marks, i)
					}
				}
				if marks == "keep" && calls > 3 && !warned {
					t.Errorf("%d calls: no warning has the reason", calls)
				}
			}
		}
	}
}

// The estimate of a call's cached tokens agrees with a cache that follows the provider's
// rules, also in the calls that compact.
func TestEstimatedCacheIsTheProvidersCache(t *testing.T) {
	f := forms()[4].withTools()
	masked := map[string]int{} // tokens that the calls with masks read
	for _, marks := range []string{"auto", "keep"} {
		for _, preset := range []string{"economy", "graduated", "masking"} {
			r := newRig(t, compact.Config{Preset: preset, MaxContextTokens: 60_000, Cache: compact.CacheConfig{Marks: marks}})
			r.server.Cache = &provider.PromptCache{}
			for rounds := 1; rounds <= 45; rounds++ {
				r.post(f, wide(f, rounds, 3, marks == "keep"))
			}
			var cache provider.PromptCache
			compactions := 0
			for i, q := range r.server.Requests() {
				u, err := cache.Use(q.Body)
				if err != nil {
					t.Fatal(err)
				}
				b, res := r.results[i].Bill, r.results[i]
				if res.Triggered {
					compactions++
				}
				if preset == "masking" {
					masked[marks] += u.Read
				}
				got, want := float64(b.Estimated.Cached)/float64(b.Estimated.Prompt()), float64(u.Read)/float64(u.Prompt())
				if got-want > 0.1 || want-got > 0.1 {
					t.Errorf("%s, %s, call %d (%s): %.2f of the prompt is estimated to be cached, %.2f is", marks, preset, i, res.Reason, got, want)
				}
			}
			if compactions == 0 {
				t.Errorf("%s, %s: no compaction", marks, preset)
			}
		}
	}
	t.Logf("tokens that the calls read from the cache, with a mask in each call: %v", masked)
	if masked["auto"] < 3*masked["keep"]/2 { // a mask in each call leaves what is before it in the cache
		t.Errorf("%v tokens are read from the cache", masked)
	}
}

// Text after the last mark is plain input: it is not written into the cache.
func TestTextAfterTheLastMarkIsPlainInput(t *testing.T) {
	f := forms()[4].withTools()
	r := newRig(t, compact.Config{MaxContextTokens: 200_000})
	r.server.Cache = &provider.PromptCache{}
	for rounds := 1; rounds <= 6; rounds++ {
		body := wide(f, rounds, 3, true)
		last := strings.LastIndex(body, `,"cache_control"`)
		body = body[:last] + strings.Replace(body[last:], `,"cache_control":{"type":"ephemeral"}`, "", 1)
		if status, answer := r.post(f, body); status != 200 {
			t.Fatalf("%d: %.300s, want 200", status, answer)
		}
	}
	var cache provider.PromptCache
	for i, q := range r.server.Requests() {
		u, err := cache.Use(q.Body)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]price.Usage{"estimated": r.results[i].Bill.Estimated, "whole": r.results[i].Bill.Whole} {
			share, want := float64(got.Fresh)/float64(got.Prompt()), float64(u.Fresh)/float64(u.Prompt())
			if share-want > 0.1 || want-share > 0.1 {
				t.Errorf("call %d, %s: %.2f of the prompt is plain input, want %.2f: %+v", i, name, share, want, got)
			}
		}
	}
}
