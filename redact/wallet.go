package redact

import (
	"crypto/sha256"
	"strings"
)

var walletRule = &rule{id: "wallet-key", kind: "wallet_key", rank: byShape}

// accounts finds the keys in: accounts: ["0x…"], and in lists of keys.
func (sc *scan) accounts(_, end int) {
	s := sc.s
	i := passQuotes(s, end, 1, false)
	if i >= len(s) || s[i] != ':' && s[i] != '=' {
		return
	}
	i = skipSpaces(s, i+1)
	if i < len(s) && s[i] == '[' {
		sc.hexKeys(i, ']')
	}
}

// privateKeys finds the keys that an Ethereum test node prints: (0) 0x….
func (sc *scan) privateKeys(_, end int) {
	i := run(sc.s, end, 100, func(c byte) bool { return isSpace(c) || c == '=' || c == '-' || c == ':' })
	if i > end {
		sc.hexKeys(i, 0)
	}
}

// newWallet finds the key in: new Wallet("0x…").
func (sc *scan) newWallet(_, end int) { sc.hexKeys(end, ',') }

// hexKeys finds numbers of 64 hex digits from i on, up to the byte stop, or, if
// stop is 0, up to the first letter outside of a number.
func (sc *scan) hexKeys(i int, stop byte) {
	s := sc.s
	limit := min(len(s), i+4<<10)
	for i < limit && (stop == 0 || s[i] != stop) {
		switch {
		case s[i] == '0' && i+2 < limit && s[i+1] == 'x' && (i == 0 || !isAlnum(s[i-1])):
			to := run(s, i+2, 65, isHex)
			if to-i == 66 && (to == len(s) || !isAlnum(s[to])) && distinct(s[i+2:to]) > 4 {
				sc.add(i, to, walletRule)
			}
			i = to
		case stop == 0 && isLetter(s[i]):
			i = limit
		default:
			i++
		}
		sc.spend(1)
	}
	sc.spend(64)
}

// minWeakGroups is the minimum length of a secret that groups finds after a weak name.
const minWeakGroups = 6*5 - 1

// groups finds a base32 secret in groups of four, in the form of an
// authenticator, after its name.
func (a *assignment) groups() bool {
	s := a.s
	i, n := a.start, 0
	if begin, _ := openQuote(s, i); begin > 0 {
		i = begin
	}
	from := i
	for to := i; ; n++ {
		j := run(s, to, 5, isBase32)
		if j-to != 4 {
			break
		}
		i = j
		if to = j; to >= len(s) || s[to] != ' ' && s[to] != '-' {
			n++
			break
		}
		to++
	}
	if n < 4 || n > 16 || strings.ToLower(s[from:i]) != s[from:i] && strings.ToUpper(s[from:i]) != s[from:i] {
		return false
	}
	if p := profileOf(s[from:i]); p.digits == 0 && !isGibberish(s[from:i], 12) {
		return false
	}
	a.start, a.end = from, i
	return true
}

func isBase32(c byte) bool { return isLetter(c) || '2' <= c && c <= '7' }

// codes finds the lines with the recovery codes of an account.
func (sc *scan) codes(_, end int) {
	s := sc.s
	i := run(s, end, maxNote, func(c byte) bool { return c == ':' || isBlank(c) || c == '\r' })
	if rest := run(s, end, maxPrompt, func(c byte) bool { return isLetter(c) || strings.IndexByte(" ,:'()\r", c) >= 0 }); rest > i && strings.HasSuffix(strings.TrimRight(s[end:rest], "\r "), ":") {
		i = rest // Save these recovery codes in a safe place:
	}
	if i >= len(s) || s[i] != '\n' {
		return
	}
	if i+1 < len(s) && s[i+1] == '\n' {
		i++
	}
	for i++; i < len(s); i++ {
		for i = sc.code(passMarker(s, skipBlanks(s, i))); i > 0 && isGap(s, i); {
			i = sc.code(passMarker(s, skipBlanks(s, i))) // the next column
		}
		if i <= 0 || i < len(s) && s[i] != '\n' {
			return
		}
	}
}

// code adds the recovery code at i. It returns the end of the code, 0 if there is none.
func (sc *scan) code(i int) int {
	s := sc.s
	first := run(s, i, 12, isAlnum)
	if first-i < 4 || first >= len(s) || s[first] != '-' && s[first] != ' ' {
		return 0
	}
	to := run(s, first+1, 12, isAlnum)
	if to-first < 5 || profileOf(s[i:to]).digits == 0 {
		return 0
	}
	sc.add(i, to, seedRule)
	sc.spend(64)
	return run(s, to, 4, func(c byte) bool { return c == '\r' })
}

// isGap reports whether the blanks at i separate two columns.
func isGap(s string, i int) bool {
	next := skipBlanks(s, i)
	return next < len(s) && s[next] != '\n' && (next > i+1 || next > i && s[i] == '\t')
}

// passMarker skips the mark of an item in a list: 1. or - or *.
func passMarker(s string, i int) int {
	n := run(s, i, 2, isDigit)
	if n > i {
		if j := passAny(s, n, ". ", ") ", ": "); j > 0 {
			return skipBlanks(s, j)
		}
		return i
	}
	if j := passAny(s, i, "- ", "* ", "• "); j > 0 {
		return skipBlanks(s, j)
	}
	return i
}

// sentry finds the key in the URL that errors are sent to.
func (sc *scan) sentry(start, _ int) {
	s := sc.s
	at := strings.LastIndexByte(s[max(0, start-40):start], '@') + max(0, start-40)
	if at >= 40 && s[at] == '@' && run(s, at-32, 32, isTag) == at && strings.HasSuffix(s[:at-32], "://") {
		sc.add(at-32, at, urlRule)
	}
}

// discord finds the token of a bot: its id in base64, a time, a signature.
func (sc *scan) discord(start, _ int) {
	s := sc.s
	if !isUpper(s[start]) || start > 0 && isURLSafe(s[start-1]) && !escaped(s, start) {
		return
	}
	i := run(s, start, 30, isAlnum)
	if i-start < 23 || i-start > 28 || i >= len(s) || s[i] != '.' {
		return
	}
	j := run(s, i+1, 7, isURLSafe)
	if j-i != 7 || j >= len(s) || s[j] != '.' {
		return
	}
	if to := run(s, j+1, 46, isURLSafe); to-j >= 28 && to-j <= 42 {
		sc.add(start, to, discordRule)
	}
}

var discordRule = &rule{id: "discord-token", kind: "discord_token", rank: byShape}

// isWIF reports whether s is a private key in the wallet import format with a
// valid checksum.
func isWIF(s string) bool {
	if len(s) != 51 && len(s) != 52 || strings.IndexByte("5KL9c", s[0]) < 0 {
		return false
	}
	var n [38]byte
	for i := range len(s) {
		d := strings.IndexByte(base58, s[i])
		if d < 0 {
			return false
		}
		for k := len(n) - 1; k >= 0; k-- {
			d += int(n[k]) * 58
			n[k] = byte(d)
			d >>= 8
		}
	}
	raw := n[38-37-(len(s)-51):]
	once := sha256.Sum256(raw[:len(raw)-4])
	twice := sha256.Sum256(once[:])
	return string(raw[len(raw)-4:]) == string(twice[:4])
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// onWallets adds the words of wallet keys, recovery codes, Sentry URLs and Discord
// tokens to a vocabulary.
func onWallets(b *vocabularyBuilder) {
	b.on("mnemonic", (*scan).seedPhrase)
	b.on("seed", (*scan).seedPhrase)
	b.on("accounts", (*scan).accounts)
	b.on("private keys", (*scan).privateKeys)
	b.on("wallet(", (*scan).newWallet)
	b.on("phrase", (*scan).seedPhrase)
	for _, w := range [...]string{"recovery codes", "backup codes", "scratch codes"} {
		b.on(w, (*scan).codes)
	}
	for _, w := range [...]string{".ingest.", "@sentry."} {
		b.on(w, (*scan).sentry)
	}
	for _, first := range [...]string{"mt", "mj", "mz", "nd", "nt", "nj", "nz", "od", "ot"} {
		for _, second := range "aeimquycgk" {
			b.on(first+string(second), (*scan).discord)
		}
	}
}
