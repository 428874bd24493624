package redact

// embedded is a token with its mark in the middle and a fixed number of
// characters before and after it.
type embedded struct {
	rule          rule
	marker        string // lower case
	exact         string // the marker in its original case
	before, after int
	pad           string // padding that must end the token, "" if it has none
}

var embeddedTokens = []embedded{
	azure("AZDO", 76, 4, ""),    // DevOps
	azure("JQQJ99", 52, 26, ""), // AI services, and other services with keys of the newer form
	azure("+ASt", 76, 6, "=="),  // storage
	azure("+ABa", 76, 6, "=="),  // batch
	azure("ACDb", 76, 6, "=="),  // Cosmos DB
	azure("AIoT", 33, 6, "="),   // IoT hub
	azure("+ASb", 33, 6, "="),   // service bus
	azure("+AEh", 33, 6, "="),   // event hub
	azure("+ARm", 33, 6, "="),   // relay
	azure("AzSe", 42, 6, ""),    // search
	azure("AzFu", 44, 6, "=="),  // functions
}

func azure(marker string, before, after int, pad string) embedded {
	folded := make([]byte, len(marker))
	for i := range len(marker) {
		folded[i] = lower(marker[i])
	}
	return embedded{
		rule: rule{id: "azure-key", kind: "azure_key", rank: byShape}, marker: string(folded), exact: marker, before: before, after: after, pad: pad,
	}
}

// match finds the token around its mark.
func (e *embedded) match(sc *scan, start, end int) {
	s := sc.s
	from, to := start-e.before, end+e.after
	if s[start:end] != e.exact || from < 0 || to+len(e.pad) > len(s) || s[to:to+len(e.pad)] != e.pad {
		return
	}
	sc.spend(to - from)
	if run(s, from, to-from, isB64) != to || from > 0 && isB64(s[from-1]) && !escaped(s, from) {
		return
	}
	to += len(e.pad)
	if to < len(s) && (isB64(s[to]) || s[to] == '=') || isFiller(s[from:start]) {
		return
	}
	sc.add(from, to, &e.rule)
}
