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
	{"jwt.sign(", 1}, {"jwt.verify(", 1}, {"jwt.encode(", 1}, {"jwt.decode(", 1}, {"createhmac(", 1}, {"hmac.new(", 0}, {"fernet(", 0},
	{"connect(", 2}, {"wifi.begin(", 1}, {"hash_hmac(", 2}, {"cipheriv(", 1}, {"aesgcm(", 0}, {"passwordcredential(", 1},
	{"algoliasearch(", 1}, {"execute_kw(", 2},
}

// callArgument returns the action that examines the n-th argument, if all
// arguments before it are literals, names, or objects in braces.
func callArgument(n int) action {
	return func(sc *scan, _, end int) {
		s := sc.s
		stop := min(len(s), end+400)
		i := skipSpaces(s, end)
		for k := range n {
			if k > 0 && n == 2 && i < stop && isDigit(s[i]) {
				return // a port: the name and the password follow
			}
			if begin, depth := openQuote(s, i); begin > 0 {
				i = closeQuote(s, begin, s[begin-1], depth) + depth + 1
			} else if i < stop && s[i] == '{' {
				i = closeBrace(s, i, stop)
			} else {
				i = run(s, i, maxName, func(c byte) bool { return isNameByte(c) || c == '$' })
			}
			sc.spend(maxName)
			if i >= stop || s[i] != ',' {
				return
			}
			i = skipSpaces(s, i+1)
		}
		i = passConstructor(s, i)
		if begin, _ := openQuote(s, i); begin == 0 || i >= stop {
			return
		}
		a := assignment{s: s, to: i, op: opCall, start: i}
		if a.readValue() && (strings.IndexByte(a.val.text, ' ') < 0 || isPassphrase(a.val.text)) && !isPlace(a.val.text) && a.isPlaced() {
			sc.add(a.start, a.end, passwordRule)
		}
	}
}

// isPlace reports whether s is a path, a topic or a route, and no generated value.
func isPlace(s string) bool {
	return strings.IndexByte(s, '/') > 0 && isTestPath(s) && !looksRandom(s) && !isGenerated(s)
}

// closeBrace returns the index after the brace that closes the one at i. It returns stop
// if there is no such brace before stop.
func closeBrace(s string, i, stop int) int {
	for open := 0; i < stop; i++ {
		switch s[i] {
		case '{':
			open++
		case '}':
			if open--; open == 0 {
				return i + 1
			}
		}
	}
	return stop
}
