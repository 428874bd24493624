package redact

import "sync"

// action examines the text around a word that the automaton found at [start,
// end).
type action func(sc *scan, start, end int)

// vocabulary is the automaton with the actions for each of its words.
type vocabulary struct {
	automaton *automaton
	acts      [][]action
}

// defaultWords and personalWords build the vocabularies once: one for the default
// rules, and one for the default rules and the rules on personal data.
var (
	defaultWords  = sync.OnceValue(func() *vocabulary { return defaults().build() })
	personalWords = sync.OnceValue(func() *vocabulary {
		b := defaults()
		b.on("@", (*scan).email)
		return b.build()
	})
)

// defaults returns a builder with the vocabulary of the default rules.
func defaults() *vocabularyBuilder {
	b := &vocabularyBuilder{index: map[string]int{}}
	for _, w := range nameRoots {
		b.on(w, (*scan).assign)
	}
	b.on("-----begin", (*scan).pem)
	b.on("-----end", (*scan).pemTail)
	b.on("private-lines:", (*scan).putty)
	b.on("bearer", (*scan).bearer)
	b.on("basic", (*scan).basic)
	b.on("authorization", (*scan).authorization)
	b.on("eyj", (*scan).jwt)
	b.on("zxlk", (*scan).encodedJWT)
	b.on("://", (*scan).userinfo)
	for _, c := range commands {
		b.on(c.word, c.run)
	}
	for _, r := range records {
		b.on(r.word, r.run)
	}
	for _, c := range callArguments {
		b.on(c.word, callArgument(c.n))
	}
	onForeign(b)
	b.on("secret", (*scan).manifest)
	b.on("/api/webhooks/", (*scan).webhook)
	b.on(":aa", (*scan).telegram)
	b.on("-us", (*scan).mailchimp)
	b.on("api.softlayer.com/soap/v", (*scan).softlayer)
	for i := range tokenShapes {
		t := &tokenShapes[i]
		b.on(t.trigger(), t.match)
	}
	for i := range embeddedTokens {
		b.on(embeddedTokens[i].marker, embeddedTokens[i].match)
	}
	b.on("hooks.zapier.com/hooks/catch/", (*scan).zapier)
	for _, add := range []func(*vocabularyBuilder){onCodes, onCalls, onDumps, onCookies, onWallets, onViews, onProtocols, onValueFlags, onPlaces, onVendors} {
		add(b)
	}
	return b
}

// nameRoots lists the words by which the names of secrets are recognized.
var nameRoots = []string{"passw", "passphrase", "passcode", "pass", "pwd", "pw", "secret", "token", "key", "cred", "auth", "jwt", "sess", "sid", "cookie", "sig", "bearer", "_pat", "psk", "_salt", "totp"}

type vocabularyBuilder struct {
	index map[string]int
	words []string
	acts  [][]action
}

func (b *vocabularyBuilder) on(word string, do action) {
	i, ok := b.index[word]
	if !ok {
		i = len(b.words)
		b.index[word] = i
		b.words = append(b.words, word)
		b.acts = append(b.acts, nil)
	}
	b.acts[i] = append(b.acts[i], do)
}

func (b *vocabularyBuilder) build() *vocabulary {
	return &vocabulary{automaton: newAutomaton(b.words), acts: b.acts}
}
