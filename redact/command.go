package redact

import "strings"

var commandRule = &rule{id: "command-line", kind: "password"}

// sshpass finds the password of: sshpass -p 'password'.
func (sc *scan) sshpass(_, end int) {
	sc.flag(end, "-p", true)
}

// mysql finds the password that mysql and its like take glued to -p.
func (sc *scan) mysql(_, end int) {
	sc.flag(end, " -p", false)
}

// flag looks for a short flag on the rest of the line behind a command.
// spaced says that the value may stand apart from it.
func (sc *scan) flag(end int, name string, spaced bool) {
	s := sc.s
	line := s[end:min(len(s), end+200)]
	if i := strings.IndexAny(line, "\n;|"); i >= 0 {
		line = line[:i]
	}
	i := strings.Index(line, name)
	if i < 0 {
		return
	}
	at := end + i + len(name)
	if spaced {
		at = skipBlanks(s, at)
	}
	a := assignment{s: s, to: at, op: opFlag, start: at}
	if at < len(s) && !isBlank(s[at]) && s[at] != '-' && a.readValue() {
		a.val.env = true
		if a.val.secret(password) {
			sc.add(a.start, a.end, commandRule)
		}
	}
}
