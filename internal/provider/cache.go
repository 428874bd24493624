package provider

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Rules of Anthropic's cache of prompts. Source:
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const (
	cacheLookback = 20              // blocks that are searched from a mark back, the marked one included
	cacheMarks    = 4               // maximum number of marks in a request
	cacheMinimum  = 1024            // tokens; a shorter prefix is not cached
	cacheLife     = 5 * time.Minute // of an entry that is not read; "ttl":"1h" sets an hour
)

// A PromptCache implements Anthropic's cache of prompts. A request stores a prefix at each
// of its marks, and nowhere else. A later request reads the longest stored prefix that ends
// at one of its marks, or at most 19 blocks before one. The order of the blocks is tools,
// system, messages; a changed tool_choice or thinking changes the messages only. The zero
// PromptCache is empty and ready. It is safe for concurrent use.
type PromptCache struct {
	Now func() time.Time // nil = time.Now

	mu      sync.Mutex
	entries map[[sha256.Size]byte]time.Time // hash of the prefix → end of its life
}

// CacheUsage counts the tokens of one request, with one token for four bytes.
type CacheUsage struct {
	Read, Written, Fresh int // from the cache, into the cache, after the last mark
}

// Prompt returns the number of tokens of the prompt.
func (u CacheUsage) Prompt() int { return u.Read + u.Written + u.Fresh }

// cacheBlock is a block of a prompt: the hash and the tokens of the prompt up to its end.
type cacheBlock struct {
	hash   [sha256.Size]byte
	tokens int
	marked bool
	life   time.Duration
}

// Use reads a request from the cache and stores its marked prefixes. It returns an error
// for a body that is not a request, or that has too many marks.
func (c *PromptCache) Use(body []byte) (CacheUsage, error) {
	blocks, err := cacheBlocks(body)
	if err != nil {
		return CacheUsage{}, err
	}
	now := time.Now()
	if c.Now != nil {
		now = c.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[[sha256.Size]byte]time.Time{}
	}
	var u CacheUsage
	stored := 0
	for m, b := range blocks {
		if !b.marked {
			continue
		}
		for i := m; i >= 0 && i > m-cacheLookback; i-- {
			if until, ok := c.entries[blocks[i].hash]; ok && now.Before(until) {
				u.Read = max(u.Read, blocks[i].tokens)
				c.entries[blocks[i].hash] = until.Add(max(0, now.Add(cacheLife).Sub(until)))
				break
			}
		}
		if b.tokens >= cacheMinimum {
			stored = b.tokens
		}
	}
	for _, b := range blocks {
		if b.marked && b.tokens >= cacheMinimum {
			c.entries[b.hash] = now.Add(b.life)
		}
	}
	u.Written = max(0, stored-u.Read)
	if n := len(blocks); n > 0 {
		u.Fresh = blocks[n-1].tokens - u.Read - u.Written
	}
	return u, nil
}

// cacheBlocks returns the blocks of a request in the order of the cache.
func cacheBlocks(body []byte) ([]cacheBlock, error) {
	var q struct {
		Tools, Messages []json.RawMessage
		System          any
		ToolChoice      any `json:"tool_choice"`
		Thinking        any
		CacheControl    any `json:"cache_control"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	var r cacheReader
	for _, t := range q.Tools {
		r.add("tool", decoded(t))
	}
	r.content("system", q.System)
	r.mix(q.ToolChoice, q.Thinking)
	for _, raw := range q.Messages {
		m, ok := decoded(raw).(map[string]any)
		if !ok {
			return nil, fmt.Errorf("messages: %.40s is not an object", raw)
		}
		r.content(fmt.Sprint(m["role"]), m["content"])
	}
	if q.CacheControl != nil && len(r.blocks) > 0 {
		r.mark(q.CacheControl)
	}
	if r.marks > cacheMarks {
		return nil, fmt.Errorf("a request may have %d marks; it has %d", cacheMarks, r.marks)
	}
	return r.blocks, nil
}

func decoded(raw []byte) (v any) {
	_ = json.Unmarshal(raw, &v) // a part of a valid document
	return v
}

// cacheReader collects the blocks of a request.
type cacheReader struct {
	blocks []cacheBlock
	hash   [sha256.Size]byte
	tokens int
	marks  int
}

// content adds the blocks of a content: a string, or a list.
func (r *cacheReader) content(role string, content any) {
	switch c := content.(type) {
	case string:
		r.add(role, map[string]any{"type": "text", "text": c})
	case []any:
		for _, b := range c {
			r.add(role, b)
		}
	}
}

// add adds a block. Its mark, also one inside of a result, is not part of the prompt.
func (r *cacheReader) add(role string, block any) {
	mark, plain := withoutMarks(block)
	raw, _ := json.Marshal(plain) // from JSON
	r.tokens += len(raw) / 4
	r.mix(role, plain)
	r.blocks = append(r.blocks, cacheBlock{hash: r.hash, tokens: r.tokens})
	if mark != nil {
		r.mark(mark)
	}
}

// mix makes the hash of all later prefixes depend on values.
func (r *cacheReader) mix(values ...any) {
	raw, _ := json.Marshal(values) // from JSON
	r.hash = sha256.Sum256(append(r.hash[:], raw...))
}

// mark marks the last block.
func (r *cacheReader) mark(mark any) {
	b := &r.blocks[len(r.blocks)-1]
	b.marked, b.life = true, cacheLife
	if m, ok := mark.(map[string]any); ok && m["ttl"] == "1h" {
		b.life = time.Hour
	}
	r.marks++
}

// withoutInnerMarks returns the last mark in a list of blocks, and a copy without marks.
func withoutInnerMarks(blocks []any) (mark any, plain []any) {
	for _, b := range blocks {
		m, p := withoutMarks(b)
		if m != nil {
			mark = m
		}
		plain = append(plain, p)
	}
	return mark, plain
}

// withoutMarks returns the mark in a block, or nil, and a copy of the block without marks.
func withoutMarks(v any) (mark, plain any) {
	block, ok := v.(map[string]any)
	if !ok {
		return nil, v
	}
	out := make(map[string]any, len(block))
	for k, v := range block {
		switch inner, isList := v.([]any); {
		case k == "cache_control":
			mark = v
		case k == "content" && isList && strings.HasSuffix(fmt.Sprint(block["type"]), "tool_result"):
			m, list := withoutInnerMarks(inner)
			mark, out[k] = cmp.Or(m, mark), list
		default:
			out[k] = v
		}
	}
	return mark, out
}
