package transport

import (
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// digest is a hash of texts, names and arguments. It ignores ids, cache marks,
// signatures, reasoning, and how a text is divided.
type digest [sha256.Size]byte

func digestOf(elems []json.RawMessage) digest {
	all := new(readings).digests(elems)
	return all[len(all)-1]
}

// readings caches the digests of elements by their bytes, because each request
// repeats the history. It is safe for concurrent use.
type readings struct {
	mu    sync.Mutex
	known map[digest]digest
	most  int // number of elements in the longest history
}

// digests returns the digest of each prefix of elems, beginning with the empty prefix.
func (r *readings) digests(elems []json.RawMessage) []digest {
	r.begin(len(elems))
	out := make([]digest, 1, len(elems)+1)
	var both [2 * sha256.Size]byte
	for i, e := range elems {
		says := r.of(e)
		copy(both[:], out[i][:])
		copy(both[sha256.Size:], says[:])
		out = append(out, sha256.Sum256(both[:]))
	}
	return out
}

// begin clears the cache if it holds more than twice the longest history.
func (r *readings) begin(elems int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most = max(r.most, elems)
	if r.known == nil || len(r.known) > 2*r.most {
		r.known = make(map[digest]digest, elems)
	}
}

// of returns the digest of one element.
func (r *readings) of(elem json.RawMessage) digest {
	bytes := digest(sha256.Sum256(elem))
	r.mu.Lock()
	says, ok := r.known[bytes]
	r.mu.Unlock()
	if ok {
		return says
	}
	says = read(elem)
	r.mu.Lock()
	r.known[bytes] = says
	r.mu.Unlock()
	return says
}

// read computes the digest of an element.
func read(elem json.RawMessage) digest {
	var v any
	_ = json.Unmarshal(elem, &v)
	var words, rest strings.Builder
	collect(&words, &rest, "", v)
	return sha256.Sum256([]byte(words.String() + "\x00" + rest.String()))
}

// unsaid holds the fields that a digest ignores.
var unsaid = []string{"id", "call_id", "tool_call_id", "tool_use_id", "cache_control", "signature", signatureField, "encrypted_content", "status",
	"type", "index", "annotations", "logprobs", "refusal", "reasoning", "reasoning_content", "reasoning_details", "thinking", "summary", "citations", "obfuscation"}

// collect gathers the words of an element, and its other values.
func collect(words, rest *strings.Builder, key string, v any) {
	switch v := v.(type) {
	case string:
		if key == "text" || key == "content" {
			for word := range strings.FieldsSeq(v) {
				words.WriteString(word)
			}
		} else if v != "" {
			rest.WriteString(key + "\x01" + v + "\x02")
		}
	case []any:
		for _, e := range v {
			collect(words, rest, key, e)
		}
	case map[string]any:
		if v["thought"] == true {
			return
		}
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !slices.Contains(unsaid, name) {
				collect(words, rest, name, v[name])
			}
		}
	case nil:
	default:
		rest.WriteString(key + "\x01" + string(enc(v)) + "\x02")
	}
}
