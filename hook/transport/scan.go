package transport

import "bytes"

// names holds the names of the members that the scanner reads.
var names = map[string]string{}

func init() {
	for _, name := range []string{
		"response", "message", "usage", "usageMetadata", "prompt_tokens", "input_tokens", "promptTokenCount", "cachedContentTokenCount",
		"prompt_tokens_details", "input_tokens_details", "cached_tokens", "prompt_cache_hit_tokens", "cache_creation", "ephemeral_1h_input_tokens",
		"completion_tokens", "output_tokens", "candidatesTokenCount", "thoughtsTokenCount", "toolUsePromptTokenCount", "cache_creation_input_tokens", "cache_read_input_tokens",
		"server_tool_use", "web_search_requests", "web_fetch_requests", "code_execution_requests", "tool_search_requests",
		"iterations", "context_management", "applied_edits", "cleared_input_tokens",
	} {
		names[name] = name
	}
}

// scanner reads JSON in pieces of any size and reports the numbers in it with
// their paths. Its memory is constant. It validates nothing: input that is not
// JSON yields no numbers, or meaningless ones.
type scanner struct {
	number  func(path string, n int)
	element func() // called at the end of each object of a list; nil = not called

	depth  int
	object [maxDepth]bool   // whether each depth is an object, not an array
	keys   [maxDepth]string // current member at each depth
	text   []byte           // bytes of the current key or number so far

	inString, escaped bool
	isKey             bool // the current string is a key
	expectKey         bool // the next string is a key
	inNumber          bool
}

const (
	maxDepth = 6  // levels that are read
	maxText  = 48 // bytes of a key or number that are kept
)

func (s *scanner) reset() {
	s.depth, s.text = 0, s.text[:0]
	s.inString, s.escaped, s.isKey, s.expectKey, s.inNumber = false, false, false, false, false
}

func (s *scanner) feed(p []byte) {
	for i := 0; i < len(p); {
		if s.inString {
			i += s.string(p[i:])
			continue
		}
		s.byte(p[i])
		i++
	}
}

// string consumes bytes of the current string, and returns their number.
func (s *scanner) string(p []byte) int {
	if s.escaped {
		s.escaped = false
		return 1
	}
	n := bytes.IndexByte(p, '"')
	end := n >= 0
	if !end {
		n = len(p)
	}
	if k := bytes.IndexByte(p[:n], '\\'); k >= 0 {
		s.escaped, s.isKey = true, false // a key with an escape is never in names
		return k + 1
	}
	if s.isKey {
		s.keep(p[:n])
	}
	if !end {
		return n
	}
	s.inString = false
	if s.isKey {
		s.keys[s.depth-1] = names[string(s.text)]
	}
	return n + 1
}

// keep appends to the text, up to one byte above maxText.
func (s *scanner) keep(p []byte) {
	s.text = append(s.text, p[:min(len(p), maxText+1-len(s.text))]...)
}

func (s *scanner) byte(c byte) {
	if s.inNumber {
		if c == '.' || c == '-' || c == '+' || c|0x20 == 'e' || c >= '0' && c <= '9' {
			s.keep([]byte{c})
			return
		}
		s.endNumber()
	}
	switch c {
	case '"':
		s.inString = true
		s.isKey = s.expectKey && s.depth <= maxDepth
		s.text = s.text[:0]
		if s.isKey {
			s.keys[s.depth-1] = ""
		}
		s.expectKey = false
	case '{', '[':
		s.open(c == '{')
	case '}', ']':
		s.depth = max(0, s.depth-1)
		s.expectKey = false
		if s.depth == 1 && !s.object[0] && c == '}' && s.element != nil {
			s.element()
		}
	case ',':
		s.expectKey = s.depth > 0 && s.depth <= maxDepth && s.object[s.depth-1]
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		s.inNumber = s.depth > 0 && s.depth <= maxDepth && s.object[s.depth-1]
		s.text = append(s.text[:0], c)
	}
}

func (s *scanner) open(object bool) {
	if s.depth < maxDepth {
		s.object[s.depth], s.keys[s.depth] = object, ""
	}
	s.depth++
	s.expectKey = object && s.depth <= maxDepth
}

// endNumber reports the current number if it is a plain integer.
func (s *scanner) endNumber() {
	s.inNumber = false
	n := 0
	for _, c := range s.text {
		if c < '0' || c > '9' || len(s.text) > 15 {
			return
		}
		n = n*10 + int(c-'0')
	}
	if path := s.path(); path != "" {
		s.number(path, n)
	}
}

// path joins the names of the open members; "" if one name is not in names. An array
// adds nothing to the path of its elements.
func (s *scanner) path() string {
	p := ""
	for d := range s.depth {
		switch {
		case !s.object[d]:
		case s.keys[d] == "":
			return ""
		case p == "":
			p = s.keys[d]
		default:
			p += "." + s.keys[d]
		}
	}
	return p
}
