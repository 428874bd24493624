package secretgen

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

const (
	lowers = "abcdefghijklmnopqrstuvwxyz"
	uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
	base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
)

// alphabets are the kinds that are a number of characters from an alphabet, for
// example hex32. A longer name comes before a name that is its prefix.
var alphabets = []struct{ kind, of string }{
	{"hexu", digits + "ABCDEF"},
	{"hex", digits + "abcdef"},
	{"an", lowers + uppers + digits},
	{"low", lowers + digits},
	{"lc", lowers},
	{"up", uppers + digits},
	{"us", lowers + uppers + digits + "-_"},
	{"b32l", lowers + "234567"},
	{"b32c", "0123456789ABCDEFGHJKMNPQRSTVWXYZ"},
	{"b32", uppers + "234567"},
	{"b58", base58},
	{"cr", "./" + digits + uppers + lowers},
	{"bechu", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"},
	{"bech", "qpzry9x8gf2tvdw0s3jn54khce6mua7l"},
	{"dig", digits},
}

// kinds holds the kinds that need code. Some use others.
var kinds map[string]func(*drawer) string

func init() {
	kinds = map[string]func(*drawer) string{
		"pw":  func(d *drawer) string { return d.value(pick(d, "pwr", "pwl", "pws", "pwp", "pwh")) },
		"pwr": func(d *drawer) string { return d.mixed(12+d.IntN(9), lowers+uppers+digits, lowers, uppers, digits) },
		"pwl": func(d *drawer) string { return d.mixed(16+d.IntN(7), lowers+uppers, lowers, uppers) },
		"pws": func(d *drawer) string {
			return "k" + d.mixed(13+d.IntN(6), lowers+uppers+digits+"!@#%^*-_+=?~", "!@#%^*", digits) + "z"
		},
		"pwd":     func(d *drawer) string { return "$" + d.mixed(11, lowers+uppers+digits, lowers, uppers, digits) },
		"pwp":     func(d *drawer) string { return strings.Join([]string{d.word(), d.word(), d.word(), d.word()}, "-") },
		"pwh":     (*drawer).human,
		"jwt":     (*drawer).jwt,
		"wif":     (*drawer).wif,
		"uuid":    (*drawer).uuid,
		"pemline": func(d *drawer) string { return base64.StdEncoding.EncodeToString(d.bytes(48)) },
		"word":    (*drawer).word,
		"w":       (*drawer).word,
		"cap":     func(d *drawer) string { return capital(d.word()) },
		"user":    func(d *drawer) string { return d.word() + pick(d, "", "_svc", "1", "-bot") },
		"host": func(d *drawer) string {
			return d.word() + "." + d.word() + pick(d, ".internal", ".example.net", ".local")
		},
		"ip": func(d *drawer) string { return fmt.Sprintf("10.%d.%d.%d", d.IntN(256), d.IntN(256), d.IntN(256)) },
		"date": func(d *drawer) string {
			return fmt.Sprintf("2025-%02d-%02dT10:%02d:00Z", 1+d.IntN(12), 1+d.IntN(28), d.IntN(60))
		},
	}
}

// split cuts a kind into its name and its number.
func split(kind string) (name string, n int) {
	for _, a := range alphabets {
		if rest, ok := strings.CutPrefix(kind, a.kind); ok {
			if n, err := strconv.Atoi(rest); err == nil {
				return a.kind, n
			}
		}
	}
	for _, name := range []string{"b64", "by"} {
		if rest, ok := strings.CutPrefix(kind, name); ok {
			if n, err := strconv.Atoi(rest); err == nil {
				return name, n
			}
		}
	}
	return kind, 0
}

func isKind(kind string) bool {
	name, n := split(kind)
	return n > 0 || kinds[name] != nil
}

// value draws a value of a kind.
func (d *drawer) value(kind string) string {
	name, n := split(kind)
	switch {
	case name == "b64":
		return base64.StdEncoding.EncodeToString(d.bytes(n))
	case name == "by":
		return strings.Trim(strings.ReplaceAll(fmt.Sprint(d.bytes(n)), " ", ","), "[]")
	case n > 0:
		i := slices.IndexFunc(alphabets, func(a struct{ kind, of string }) bool { return a.kind == name })
		return d.of(n, alphabets[i].of)
	case kinds[name] == nil:
		panic("secretgen: no such kind: " + kind)
	}
	return kinds[name](d)
}

// of draws n characters of an alphabet. The first character is not a dash, and
// not a zero, so that a number keeps its length.
func (d *drawer) of(n int, alphabet string) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[d.IntN(len(alphabet))]
	}
	if b[0] == '0' || b[0] == '-' {
		b[0] = alphabet[len(alphabet)/2]
	}
	return string(b)
}

// mixed draws n characters until one of each set is among them.
func (d *drawer) mixed(n int, alphabet string, sets ...string) string {
	for {
		s := d.of(n, alphabet)
		if !slices.ContainsFunc(sets, func(set string) bool { return !strings.ContainsAny(s, set) }) {
			return s
		}
	}
}

func (d *drawer) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(d.Uint32())
	}
	return b
}

// human draws a password that a person would choose under a rule that requires a
// digit and a symbol.
func (d *drawer) human() string {
	return capital(d.word()) + pick(d, "", "@", "#") + d.of(2+d.IntN(3), digits) + pick(d, "!", "!", "?", "*", "")
}

func (d *drawer) jwt() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"`+d.of(10, digits)+`","name":"`+d.word()+`"}`) + "." + d.of(43, lowers+uppers+digits)
}

func (d *drawer) uuid() string {
	h := d.of(32, digits+"abcdef")
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// wif draws the wallet import format of a private key.
func (d *drawer) wif() string {
	raw := append([]byte{0x80}, d.bytes(32)...)
	raw = append(raw, 1)
	once := sha256.Sum256(raw)
	twice := sha256.Sum256(once[:])
	n := new(big.Int).SetBytes(append(raw, twice[:4]...))
	var out []byte
	for radix, digit := big.NewInt(58), new(big.Int); n.Sign() > 0; {
		n.DivMod(n, radix, digit)
		out = append(out, base58[digit.Int64()])
	}
	slices.Reverse(out)
	return string(out)
}

func (d *drawer) word() string { return words[d.IntN(len(words))] }

func pick(d *drawer, all ...string) string { return all[d.IntN(len(all))] }

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

var words = strings.Fields(`
amber anchor apple arrow autumn basket beacon birch blanket bottle bridge bronze candle canyon carpet cedar
cherry circle cobalt copper coral cotton crystal dagger dolphin dragon eagle ember engine falcon feather
fender forest galaxy garden garnet ginger glacier granite guitar hammer harbor hazel island jacket jasmine
jungle kettle ladder lantern lemon marble meadow mirror mountain needle ocean olive orange orbit paper
pebble pepper planet pocket puzzle rabbit raven ribbon river rocket saddle salmon shadow silver spring
summer sunset tiger timber tulip tunnel turtle valley velvet violet walnut willow window winter yellow
`)
