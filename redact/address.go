package redact

import "strings"

var (
	webhookRule  = &rule{id: "webhook", kind: "webhook", rank: byShape}
	telegramRule = &rule{id: "telegram-bot", kind: "telegram_token", rank: byShape}
	seedRule     = &rule{id: "seed-phrase", kind: "seed_phrase", rank: byShape}
)

// webhook finds the secret part of the URL of a chat's webhook: the part after
// the channel number.
func (sc *scan) webhook(_, end int) {
	i := run(sc.s, end, 24, isDigit)
	if i == end || i >= len(sc.s) || sc.s[i] != '/' {
		return
	}
	if to := run(sc.s, i+1, 128, isURLSafe); to-i > 32 {
		sc.add(i+1, to, webhookRule)
	}
}

var (
	mailchimpRule = &rule{id: "mailchimp", kind: "mailchimp_key", rank: byShape}
	softlayerRule = &rule{id: "softlayer", kind: "softlayer_key", rank: byShape}
)

// mailchimp finds the 32 digits before -us and the number of a data center.
func (sc *scan) mailchimp(start, end int) {
	s := sc.s
	to := run(s, end, 3, isDigit)
	from := start - 32
	if to == end || to-end > 2 || from < 0 || run(s, from, 32, isTag) != start || from > 0 && isWord(s[from-1]) && !escaped(s, from) || to < len(s) && isWord(s[to]) {
		return
	}
	sc.add(from, to, mailchimpRule)
}

// softlayer finds the key in the path of the SOAP interface.
func (sc *scan) softlayer(_, end int) {
	i := run(sc.s, end, 4, func(c byte) bool { return isDigit(c) || c == '.' })
	if i < len(sc.s) && sc.s[i] == '/' {
		if to := run(sc.s, i+1, 65, isAlnum); to-i == 65 {
			sc.add(i+1, to, softlayerRule)
		}
	}
}

// zapier finds the secret part of the URL of a webhook.
func (sc *scan) zapier(_, end int) {
	i := run(sc.s, end, 24, isDigit)
	if i == end || i >= len(sc.s) || sc.s[i] != '/' {
		return
	}
	if to := run(sc.s, i+1, 64, isAlnum); to-i > 5 {
		sc.add(i+1, to, webhookRule)
	}
}

// telegram finds 12345678:AA…, the token of a bot.
func (sc *scan) telegram(start, end int) {
	s := sc.s
	if s[start:end] != ":AA" {
		return
	}
	from := start
	for from > max(0, start-11) && isDigit(s[from-1]) {
		from--
	}
	to := run(s, end, 40, isURLSafe)
	if start-from < 8 || start-from > 10 || to-end < 32 || to-end > 34 || from > 0 && isWord(s[from-1]) && !strings.HasSuffix(s[:from], "/bot") && !escaped(s, from) {
		return
	}
	sc.add(from, to, telegramRule)
}

// seedPhrase finds the twelve to twenty-four words after their name.
func (sc *scan) seedPhrase(_, end int) {
	s := sc.s
	i := run(s, end, 20, func(c byte) bool { return isLetter(c) || c == ' ' || c == '_' || c == '-' })
	i = passQuotes(s, i, 2, false)
	if i >= len(s) || s[i] != ':' && s[i] != '=' {
		return
	}
	i = passQuotes(s, i+1, 4, true)
	words, to := 0, i
	for words < 25 {
		j := run(s, to, 9, isLower)
		if j-to < 3 {
			break
		}
		words++
		to = j
		if to >= len(s) || s[to] != ' ' {
			break
		}
		to++
	}
	if words == 12 || words == 15 || words == 18 || words == 21 || words == 24 {
		sc.add(i, len(strings.TrimRight(s[:to], " ")), seedRule)
	}
}
