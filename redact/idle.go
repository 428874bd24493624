package redact

// Most names in ordinary text are weak, such as publicKey, and have no value that could
// be a secret. The checks here find that out before anything else is read.

// ratings is a small cache of the strengths of names. Programs repeat their names.
type ratings [128]struct {
	name string
	is   strength
}

// rate is nameStrength with the cache.
func (sc *scan) rate(name string) strength {
	n := len(name)
	if n == 0 || n > maxName {
		return nameStrength(name)
	}
	e := &sc.ratings[(n+int(name[0])*7+int(name[n-1])*31+int(name[n/2])*5)%len(sc.ratings)]
	if e.name != name {
		e.name, e.is = name, nameStrength(name)
		sc.rated = true
	}
	return e.is
}

// isIdle reports whether no value after the name can be a secret. The hit is the root by
// which the name was found.
func (sc *scan) isIdle(a *assignment, start, end int) bool {
	if a.base > weak || a.to < len(a.s) && a.s[a.to] == '(' {
		return false
	}
	switch root := a.s[start:end]; {
	case len(root) == 3 && lower(root[0]) == 'k': // key
	case len(root) == 4 && lower(root[0]) == 's', len(root) == 6: // sess, cookie
	default:
		return false // a root that has other meanings, too
	}
	if a.base == none {
		return true
	}
	return !sc.denseNear(a.to) && !hasGroups(a.s, a.to) && openingList(a.s, a.to) == 0
}

const (
	leastDense  = 16  // length of the shortest value that looksRandom accepts
	denseWithin = 128 // maximum distance between a weak name and its value
)

// denseNear reports whether a run that is long enough for a generated value, and has two
// digits, begins in the bytes after i. Names are read from left to right, so that no byte
// is searched twice.
func (sc *scan) denseNear(i int) bool {
	s, limit := sc.s, i+denseWithin
	at := i
	if sc.denseFrom <= i && i <= sc.dense {
		if at = sc.dense; sc.denseFound {
			return at < limit
		}
	}
	sc.denseFrom, sc.denseFound = i, false
	for at < limit && at+leastDense <= len(s) {
		k := at + leastDense - 1
		for k >= at && !endsDense[s[k]] {
			k--
		}
		if k >= at {
			at = k + 1
			continue
		}
		digits, end, stop := 0, at, min(len(s), at+maxContext)
		for end < stop && digits < 2 && !endsDense[s[end]] {
			if isDigit(s[end]) {
				digits++
			}
			end++
		}
		if digits > 1 || end == at+maxContext {
			sc.denseFound = true
			break
		}
		at = end
	}
	sc.dense = at
	return sc.denseFound
}

// endsDense marks the bytes that no generated value has.
var endsDense = func() (t [256]bool) {
	for c := range 256 {
		t[c] = isSpace(byte(c)) || isQuote(byte(c)) || c < ' ' || c == '\\'
	}
	return t
}()

// hasGroups reports whether two groups of four characters follow, perhaps after a word
// such as "is": such groups may be a secret in base32.
func hasGroups(s string, i int) bool {
	for range 2 {
		for least := i + 12; i < len(s) && i < least && !isAlnum(s[i]); {
			i++
		}
		if i+9 >= len(s) {
			return false
		}
		if c := s[i+4]; (c == ' ' || c == '-') && run(s, i, 9, isBase32) == i+4 && run(s, i+5, 5, isBase32) == i+9 {
			return true
		}
		for i < len(s) && isAlnum(s[i]) {
			i++
		}
	}
	return false
}
