package redact

import "strings"

var urlRule = &rule{id: "url-userinfo", kind: "url_password", rank: byShape}

const maxAuthority = 1 << 10

// userinfo finds the password in scheme://name:password@host, and the token in
// scheme://token@host.
func (sc *scan) userinfo(start, end int) {
	s := sc.s
	if start == 0 || !isAlnum(s[start-1]) {
		return
	}
	stop := urlStop(s, end)
	sc.spend(2 * (stop - end))
	slash := end
	for slash < stop && strings.IndexByte("/?#", s[slash]) < 0 {
		slash++
	}
	at := strings.LastIndexByte(s[end:slash], '@')
	colon := strings.IndexByte(s[end:slash], ':')
	if at < 0 && colon >= 0 && run(s, end+colon+1, 6, isDigit) < slash {
		at = strings.LastIndexByte(s[end:stop], '@')
	}
	if at <= 0 {
		return
	}
	sc.credentials(end, end+at)
}

// dsn finds the password in name:password@tcp(host:port)/database, the form of a
// data source in Go. The start of the protocol is the hit.
func (sc *scan) dsn(start, _ int) {
	from := start
	for least := max(0, start-maxName*2); from > least && !isSpace(sc.s[from-1]) && !isQuote(sc.s[from-1]); {
		from--
	}
	sc.spend(start - from)
	if at := strings.LastIndexByte(sc.s[from:start], '='); at >= 0 && strings.IndexByte(sc.s[from:start], ':') > at {
		from += at + 1
	}
	sc.credentials(from, start)
}

// urlStop returns an upper bound for the end of the URL whose host part begins
// at i.
func urlStop(s string, i int) int {
	for limit := min(len(s), i+maxAuthority); i < limit; i++ {
		if end := placeholderAt(s, i); end > 0 {
			i = end - 1
			continue
		}
		if s[i] <= ' ' || strings.IndexByte("\"'`<>\\,|", s[i]) >= 0 {
			return i
		}
	}
	return min(i, len(s))
}

// credentials examines name:password, the part before the @.
func (sc *scan) credentials(from, to int) {
	info := sc.s[from:to]
	name, pass, both := strings.Cut(info, ":")
	if looksRandom(name) && len(name) >= 20 || both && name != "" && (pass == "x-oauth-basic" || pass == "") && profileOf(name).digits > 0 && len(name) >= 16 {
		sc.add(from, from+len(name), urlRule)
	}
	if both && isURLPassword(pass) {
		sc.add(from+len(name)+1, to, urlRule)
	}
}

func isURLPassword(p string) bool {
	p = dropPlaceholders(p)
	return len(p) >= 3 && !isStandIn(p) && !isReference(p) && !strings.ContainsAny(p, "{}[]$()") && p != "x-oauth-basic" && p != "pass" && p != "pw" && p != "pwd"
}
