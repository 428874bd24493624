package tidy

import "strings"

// isLevel reports whether a word is the level of a log line.
func isLevel(word string) bool {
	switch word {
	case "INFO", "DEBUG", "WARN", "WARNING", "ERROR", "TRACE", "FATAL", "NOTICE", "info", "debug", "warn", "error", "trace":
		return true
	}
	return false
}

// logs reduces a log to the first line of each kind, the errors, and both ends.
func logs(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	if r.asked.isCode() || r.asked.isSetting() || r.asked.isDocument() || !d.isLog(from, to) {
		return pass
	}
	c := newChoice(d)
	c.errors()
	access := false
	seen := map[uint64]bool{}
	for i := from; i < to; i++ {
		text := d.lines[i].text
		if h := shape(text); !seen[h] {
			seen[h] = true
			c.raise(i, good)
		}
		if isKlogError(text) {
			c.around(i, must, 1, 2)
		}
		if c.rank[i] == must && isObject(text) { // the events before a failure say why
			for k := max(i-3, from); k < i; k++ {
				c.raise(k, best)
			}
		}
		access = access || isAccess(text)
	}
	if access {
		c.outliers(from, to, good)
	}
	c.span(from, to, room/6, room/4)
	c.named(r, good)
	return done(d.shown("first occurrences, errors, ends", c.take(room)))
}

// isLog reports whether at least half of the lines begin with a time or a level, or are
// lines of the log of a web server, or are JSON objects.
func (d *draft) isLog(from, to int) bool {
	hits, seen := 0, 0
	step := max((to-from)/200, 1)
	for i := from; i < to; i += step {
		if d.lines[i].text == "" {
			continue
		}
		seen++
		if text := d.lines[i].text; isLogged(text) || isAccess(text) || isObject(text) {
			hits++
		}
	}
	return seen >= 10 && hits*2 >= seen
}

func isLogged(text string) bool {
	head := strings.TrimLeft(text[:min(len(text), 60)], " [(")
	if beginsWithTime(head) || isKlog(head) {
		return true
	}
	for i := 0; i < len(head); i++ {
		from := i
		for i < len(head) && isLetter(head[i]) {
			i++
		}
		word, rest := head[from:i], head[i:]
		if isLevel(word) || word == "level" && strings.HasPrefix(rest, "=") && (len(rest) == 1 || !isLetter(rest[1])) {
			return true
		}
	}
	return false
}

// isKlog recognizes I0304 10:28:48…, where the letter is the level.
func isKlog(s string) bool {
	return len(s) > 13 && strings.IndexByte("IWEF", s[0]) >= 0 && s[5] == ' ' && s[8] == ':' && isDigit(s[1]) && isDigit(s[4]) && isDigit(s[6])
}

func isKlogError(s string) bool { return len(s) > 0 && (s[0] == 'E' || s[0] == 'F') && isKlog(s) }

// isAccess recognizes the time in the log of a web server: [04/Mar/2026:10:28:48…
func isAccess(s string) bool {
	const most = 80 // bytes of names and addresses before the time
	i := strings.IndexByte(s[:min(len(s), most)], '[')
	return i >= 0 && len(s) > i+13 && isDigit(s[i+1]) && s[i+3] == '/' && s[i+7] == '/' && s[i+12] == ':'
}

// isObject reports whether a line is a JSON object.
func isObject(s string) bool {
	return len(s) > 2 && s[0] == '{' && s[1] == '"' && s[len(s)-1] == '}'
}

// beginsWithTime recognizes 2026-01-02…, 10:28:48…, Jan  2 10:28:48….
func beginsWithTime(s string) bool {
	if len(s) < 8 {
		return false
	}
	digits := func(at ...int) bool {
		for _, i := range at {
			if !isDigit(s[i]) {
				return false
			}
		}
		return true
	}
	switch {
	case digits(0, 1, 3, 4, 6, 7) && s[2] == ':' && s[5] == ':':
		return true
	case digits(0, 1, 2, 3, 5, 6) && (s[4] == '-' || s[4] == '/') && s[7] == s[4]:
		return true
	}
	return len(s) >= 15 && isLetter(s[0]) && isLetter(s[2]) && s[3] == ' ' && isDigit(s[5]) && s[9] == ':' && s[12] == ':'
}

// shape returns a hash of a line. A run of digits and of the hexadecimal letters after
// them counts as one digit, so that lines of one kind have the same hash.
func shape(s string) uint64 {
	const prime = 1099511628211
	h := uint64(14695981039346656037)
	digit := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isDigit(c):
			if digit {
				continue
			}
			digit, c = true, '0'
		case digit && (c|0x20 >= 'a' && c|0x20 <= 'f'):
			continue
		default:
			digit = false
		}
		h = (h ^ uint64(c)) * prime
	}
	return h
}
