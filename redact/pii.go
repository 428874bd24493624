package redact

import "strings"

var (
	emailRule = &rule{id: "email", kind: "email", rank: byShape}
	cardRule  = &rule{id: "card", kind: "card", rank: byShape}
	ibanRule  = &rule{id: "iban", kind: "iban", rank: byShape}
	phoneRule = &rule{id: "phone", kind: "phone", rank: byShape}
)

// email finds the address around an @.
func (sc *scan) email(at, end int) {
	s := sc.s
	from := at
	for least := max(0, at-64); from > least && isMailbox(s[from-1]); {
		from--
	}
	for from < at && (s[from] == '.' || s[from] == '-' || escaped(s, from+1)) {
		from++
	}
	to := run(s, end, 255, func(c byte) bool { return isAlnum(c) || c == '-' || c == '.' })
	for to > end && (s[to-1] == '.' || s[to-1] == '-') {
		to--
	}
	dot := strings.LastIndexByte(s[end:to], '.')
	if from == at || dot <= 0 || to-(end+dot) < 3 || isDigit(s[to-1]) && !strings.HasPrefix(s[end+dot+1:to], "xn--") {
		return
	}
	sc.add(from, to, emailRule)
}

func isMailbox(c byte) bool { return isAlnum(c) || strings.IndexByte("._%+-", c) >= 0 }

// personalNumbers finds the numbers of cards, bank accounts and telephones,
// which begin with a digit, a plus sign, a bracket or two capitals.
func (sc *scan) personalNumbers() {
	s := sc.s
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !isDigit(c) && c != '+' && c != '(' && !isUpper(c) || i > 0 && isAlnum(s[i-1]) && !escaped(s, i) {
			continue
		}
		switch {
		case isUpper(c):
			i = max(i, sc.iban(i))
		default:
			if to := sc.card(i); to > 0 {
				i = to - 1
			} else if to := sc.phone(i); to > 0 {
				i = to - 1
			}
		}
	}
}

// digitRun collects the digits of a number, but no more than most+1 of them.
// There may be up to gap separators between two digits. It returns the end of
// the last digit.
func digitRun(s string, i, most, gap int, between string) (digits []byte, to int) {
	digits = make([]byte, 0, 34)
	for to = i; i < len(s) && len(digits) <= most; i++ {
		switch {
		case isDigit(s[i]):
			digits = append(digits, s[i])
			to = i + 1
		case i < to+gap && strings.IndexByte(between, s[i]) >= 0:
		default:
			return digits, to
		}
	}
	return digits, to
}

// card adds the card number at i. It returns its end, 0 if there is none.
func (sc *scan) card(i int) int {
	s := sc.s
	if !isDigit(s[i]) {
		return 0
	}
	d, to := digitRun(s, i, 19, 1, " -")
	if len(d) < 13 || len(d) > 19 || to < len(s) && (isWord(s[to]) || s[to] == '.' && to+1 < len(s) && isDigit(s[to+1])) || i > 0 && (s[i-1] == '.' || s[i-1] == '_' || s[i-1] == '-') || !isIssued(string(d)) || !luhn(d) {
		return 0
	}
	sc.add(i, to, cardRule)
	return to
}

// isIssued reports whether the first digits belong to a card scheme, and the
// length is one of its lengths.
func isIssued(d string) bool {
	two, four := d[:2], d[:4]
	switch n := len(d); n {
	case 13:
		return d[0] == '4'
	case 14:
		return two == "36" || two == "38" || two == "39" || "300" <= d[:3] && d[:3] <= "305"
	case 15:
		return two == "34" || two == "37" || d[0] == '1'
	default:
		return d[0] == '4' && (n == 16 || n == 19) || n == 16 && ("51" <= two && two <= "55" || "2221" <= four && four <= "2720" || "3528" <= four && four <= "3589") || two == "50" || "56" <= two && two <= "69"
	}
}

func luhn(d []byte) bool {
	sum := 0
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return sum%10 == 0 && distinct(string(d)) > 1
}

// phone adds the telephone number at i: international with a plus sign, or in a
// North American form. It returns its end, 0 if there is none.
func (sc *scan) phone(i int) int {
	s := sc.s
	at := i
	if s[i] == '+' || s[i] == '(' {
		at++
	}
	d, to := digitRun(s, at, 15, 2, " -.()")
	text := s[i:to]
	if to < len(s) && isWord(s[to]) || i > 0 && strings.IndexByte("-.+_=/", s[i-1]) >= 0 {
		return 0
	}
	if s[i] == '+' && len(d) >= 8 && len(d) <= 15 && s[at] != '0' || isNorthAmerican(text) {
		sc.add(i, to, phoneRule)
		return to
	}
	return 0
}

// isNorthAmerican recognizes (212) 555-0123, 212-555-0123 and 212.555.0123.
func isNorthAmerican(s string) bool {
	form := []byte(s)
	for i, c := range form {
		if isDigit(c) {
			form[i] = 'd'
		}
	}
	switch string(form) {
	case "(ddd) ddd-dddd", "(ddd)ddd-dddd", "ddd-ddd-dddd", "ddd.ddd.dddd":
		first := strings.TrimPrefix(s, "(")[0]
		return first >= '2'
	}
	return false
}

// iban adds the account number at i. It returns its end, 0 if there is none.
func (sc *scan) iban(i int) int {
	s := sc.s
	if i+4 > len(s) || !isUpper(s[i+1]) || !isDigit(s[i+2]) || !isDigit(s[i+3]) {
		return 0
	}
	want := ibanLength[s[i:i+2]]
	if want == 0 {
		return 0
	}
	account := make([]byte, 0, 34)
	to := i
	for j := i; j < len(s) && len(account) < want; j++ {
		switch {
		case isUpAlnum(s[j]):
			account = append(account, s[j])
			to = j + 1
		case j == to && (s[j] == ' ' || s[j] == '-'):
		default:
			return 0
		}
	}
	if len(account) < want || to < len(s) && isWord(s[to]) || !mod97(account) {
		return 0
	}
	sc.add(i, to, ibanRule)
	return to
}

// mod97 verifies the check digits of an account number.
func mod97(account []byte) bool {
	rest := 0
	for i := range account {
		c := account[(i+4)%len(account)]
		if isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
			continue
		}
		rest = (rest*100 + int(c-'A') + 10) % 97
	}
	return rest == 1
}

// ibanLength maps a country to the length of its account numbers.
var ibanLength = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BI": 27, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DJ": 27, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FK": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MN": 20, "MR": 27, "MT": 31, "MU": 30, "NI": 28, "NL": 18, "NO": 15, "OM": 23, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "RU": 33, "SA": 24, "SC": 31, "SD": 18, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SO": 23, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20, "YE": 30,
}
