package tracetest

import (
	"bytes"
	"encoding/json"
)

// dataKeys returns, for each event in a body, the keys of its data in the order
// in which they were sent, which decoding into a map forgets. The body is valid
// JSON.
func dataKeys(body []byte, enveloped bool) [][]string {
	w := keyWalker{}
	if enveloped {
		w.above = 2 // the envelope and its array
	}
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '{', '[':
			w.open(c == '{')
		case '}', ']':
			w.stack = w.stack[:len(w.stack)-1]
		case ',':
			w.stack[len(w.stack)-1].value = false
		case '"':
			end := stringEnd(body, i)
			w.text(body[i:end])
			i = end - 1
		}
	}
	return w.events
}

// stringEnd returns the index after the string that starts at i.
func stringEnd(body []byte, i int) int {
	for i++; body[i] != '"'; i++ {
		if body[i] == '\\' {
			i++
		}
	}
	return i + 1
}

type keyWalker struct {
	above  int // containers around an event
	stack  []container
	events [][]string
}

// container is an object or array that is open.
type container struct {
	object bool
	key    string // of an object: the current one
	value  bool   // of an object: the key was read
}

func (w *keyWalker) open(object bool) {
	w.stack = append(w.stack, container{object: object})
	if object && len(w.stack) == w.above+1 && (w.above == 0 || w.stack[0].key == "batch") {
		w.events = append(w.events, nil)
	}
}

// text sees a string: a key, or a value that matters to nobody.
func (w *keyWalker) text(quoted []byte) {
	n := len(w.stack)
	top := &w.stack[n-1]
	if !top.object || top.value {
		return
	}
	top.value = true
	if n > w.above+2 {
		return // deeper than the keys of data
	}
	top.key = unquote(quoted)
	if n == w.above+2 && w.stack[n-2].key == "data" && len(w.events) > 0 {
		w.events[len(w.events)-1] = append(w.events[len(w.events)-1], top.key)
	}
}

// unquote decodes a JSON string; most keys need no decoding.
func unquote(quoted []byte) string {
	plain := quoted[1 : len(quoted)-1]
	var s string
	if bytes.IndexByte(plain, '\\') < 0 || json.Unmarshal(quoted, &s) != nil {
		return string(plain)
	}
	return s
}
