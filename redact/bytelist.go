package redact

import "strings"

var keyBytesRule = &rule{id: "key-bytes", kind: "key"}

// byteList finds a key that is written as a list of numbers: key = bytes([13, 200, …]),
// let key: [u8; 16] = [0x0d, 0xc8, …]. The list must have the length of a key.
func (sc *scan) byteList(a *assignment) bool {
	s := a.s
	i := openingList(s, a.to)
	if i == 0 {
		return false
	}
	from, n, steps := i, 0, [2]int{-1, 0}
	var last, end int
	for n <= 64 {
		i = skipSpaces(s, i)
		value, to := byteAt(s, i)
		if to == i {
			break
		}
		if n > 0 && value-last == steps[0] {
			steps[1]++
		}
		steps[0], last = value-last, value
		n++
		end, i = to, skipSpaces(s, to)
		if i >= len(s) || s[i] != ',' {
			break
		}
		i++
	}
	sc.spend(end - a.to)
	if n != 16 && n != 24 && n != 32 && n != 64 || steps[1]*2 > n || i >= len(s) || strings.IndexByte("]})", s[i]) < 0 {
		return false
	}
	sc.add(from, end, keyBytesRule)
	return true
}

// openingList returns the index after the bracket that opens a list of numbers shortly after i, 0
// if there is none.
func openingList(s string, i int) int {
	for end := min(len(s)-3, i+maxNote); i < end; i++ {
		switch c := s[i]; {
		case c == '[' || c == '{':
			if j := run(s, i+1, 4, isDigit); c == '[' && j > i+1 && j < len(s) && s[j] == ']' {
				i = j // the length of an array
				continue
			}
			if j := skipSpaces(s, i+1); j+1 < len(s) && isDigit(s[j]) && (s[j+1] == 'x' || isDigit(s[j+1]) || s[j+1] == ',') {
				return j
			}
		case c == '\n', c == ';' && i > 0 && !isDigit(s[i-1]) && !isAlnum(s[i-1]), c == ',':
			return 0
		}
	}
	return 0
}

// byteAt reads the number of a byte at i, in decimal or hexadecimal. It returns i if there
// is none.
func byteAt(s string, i int) (value, end int) {
	if strings.HasPrefix(s[min(i, len(s)):], "0x") {
		end = run(s, i+2, 3, isHex)
		if end == i+2 || end == i+5 {
			return 0, i
		}
		for _, c := range []byte(s[i+2 : end]) {
			value = value<<4 | int(unhex(c))
		}
		return value, end
	}
	end = run(s, i, 4, isDigit)
	for _, c := range []byte(s[i:end]) {
		value = value*10 + int(c-'0')
	}
	if end == i+4 || value > 255 {
		return 0, i
	}
	return value, end
}
