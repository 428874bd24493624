package redact

import "strings"

// callArguments lists the calls that take a password, with the index of the
// argument, counted from zero.
var callArguments = []struct {
	word string
	n    int
}{
	{"httpbasicauth(", 1}, {"basicauth(", 1}, {"basic_auth(", 1}, {"setbasicauth(", 1}, {"auth=(", 1}, {"auth = (", 1}, {"networkcredential(", 1}, {"passwordauthentication(", 1},
	{"new pdo(", 2}, {"getconnection(", 2}, {"mysqli(", 2}, {"mysqli_connect(", 2}, {"mysql_connect(", 2}, {"smtpauth(", 1}, {".login(", 1}, {"plainauth(", 2}, {"usernamepasswordcredentials(", 1},
}

// callArgument returns the action that examines the n-th argument, if all
// arguments before it are literals or names.
func callArgument(n int) action {
	return func(sc *scan, _, end int) {
		s := sc.s
		stop := min(len(s), end+400)
		i := skipSpaces(s, end)
		for range n {
			if begin, depth := openQuote(s, i); begin > 0 {
				i = closeQuote(s, begin, s[begin-1], depth) + depth + 1
			} else {
				i = run(s, i, maxName, func(c byte) bool { return isNameByte(c) || c == '$' })
			}
			sc.spend(maxName)
			if i >= stop || s[i] != ',' {
				return
			}
			i = skipSpaces(s, i+1)
		}
		if begin, _ := openQuote(s, i); begin == 0 || i >= stop {
			return
		}
		a := assignment{s: s, to: i, op: opCall, start: i}
		if a.readValue() && strings.IndexByte(a.val.text, ' ') < 0 && a.isChosen() {
			sc.add(a.start, a.end, passwordRule)
		}
	}
}
