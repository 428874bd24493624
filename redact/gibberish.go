package redact

// follows lists, for each letter from a to z, the letters that often follow it
// in the words of programs and their documentation. A generator produces all
// pairs, and most pairs are not listed.
var follows = [26]string{
	"abcdefgiklmnprstuvxy",  // a
	"abcdeilorsu",           // b
	"acdefhiklmorstu",       // c
	"abcdefilorsu",          // d
	"abcdefgilmnopqrstvwxy", // e
	"abcdefilortu",          // f
	"aehilnorsu",            // g
	"aeiort",                // h
	"abcdefglmnoprstvxz",    // i
	"aeiou",                 // j
	"eis",                   // k
	"adeilopstuy",           // l
	"abdeilmopsu",           // m
	"acdefgiklnostuv",       // n
	"abcdfgiklmnoprstuvw",   // o
	"aehiloprstuy",          // p
	"u",                     // q
	"abcdefgiklmnoprstuvy",  // r
	"acehiklmoprstuy",       // s
	"acdefhilmoprstuy",      // t
	"abcdefgilmnprst",       // u
	"aei",                   // v
	"aeinors",               // w
	"ceipt",                 // x
	"ps",                    // y
	"aeioz",                 // z
}

// pairs is follows as a set of bits.
var pairs = func() (t [26]uint32) {
	for i, behind := range follows {
		for k := range len(behind) {
			t[i] |= 1 << (behind[k] - 'a')
		}
	}
	return t
}()

// isGibberish reports whether s has n letters or more and looks generated: its
// pairs of letters are rare in words, or its case changes more often than in
// the names of a program. It skips characters that are not letters.
func isGibberish(s string, n int) bool {
	odd, all, turns, letters := 0, 0, 0, 0
	for i := range len(s) {
		if !isLetter(s[i]) {
			continue
		}
		letters++
		if i == 0 || !isLetter(s[i-1]) {
			continue
		}
		all++
		if pairs[lower(s[i-1])-'a']>>(lower(s[i])-'a')&1 == 0 {
			odd++
		}
		if isUpper(s[i]) != isUpper(s[i-1]) {
			turns++
		}
	}
	if letters < n || all == 0 {
		return false
	}
	if turns <= 1 {
		return odd*10 >= all*3
	}
	return odd*100+turns*40 >= all*45 && odd*6 >= all
}
