package redact

import (
	"slices"
	"strings"
	"testing"
)

func TestPersonalDataIsOffByDefault(t *testing.T) {
	family{clean: []string{"mail bob@example.com", "call +49 30 901820", "card 4111 1111 1111 1111", "account DE89 3704 0044 0532 0130 00"}}.check(t, newRedactor(t, Options{}))
}

func TestPersonalDataVanishesOnRequest(t *testing.T) {
	family{
		secret: samples(
			in("bob.smith+x@mail.example.co.uk", "From: %s\n", "<%s>", "mailto:%s,", `\n%s\n`),
			in("4111 1111 1111 1111", "card %s.", "card: %s, cvc"),
			in("4111111111111111", "%s", `{"card": "%s"}`),
			in("DE89 3704 0044 0532 0130 00", "IBAN %s today", "%s"),
			in("DE89370400440532013000", "IBAN: %s,"),
			in("+49 30 901820", "call %s now"),
			in("(212) 555-0123", "call %s now"),
		),
		clean: []string{"npm i left-pad@1.3.0", "user@host", "git@github.com:a/b.git"[:10], "@decorator", "4111 1111 1111 1112", "1700000000000 ms", "DE88 3704 0044 0532 0130 00", "version 1.234.567.8901", "2026-11-21T07:01:17", "192.168.100.200", "line 212-555", "0x4111111111111111a", "sha 4111111111111111abcdef", "+1", "a+123456789012"},
	}.check(t, newRedactor(t, Options{PII: true}))
}

// TestCorpusOfPersonalData measures the rules on personal data.
func TestCorpusOfPersonalData(t *testing.T) {
	r := newRedactor(t, Options{PII: true})
	entities := map[string]string{"CREDIT_CARD": "card", "IBAN_CODE": "iban", "EMAIL_ADDRESS": "email"}
	scores := map[string]*score{}
	for _, s := range readCorpus(t) {
		rule := entities[s.Entity]
		if s.set != "presidio" || rule == "" {
			continue
		}
		if scores[s.Entity] == nil {
			scores[s.Entity] = new(score)
		}
		c := scores[s.Entity]
		if len(s.Secrets) > 0 {
			c.add(s, r.Text(s.Text).String())
			continue
		}
		c.negatives++
		if slices.ContainsFunc(r.Find(s.Text), func(f Finding) bool { return f.Rule == rule }) {
			c.falseAlarms = append(c.falseAlarms, s.Text)
		}
	}
	for entity, c := range scores {
		t.Logf("%-14s found %d/%d, false %d/%d", entity, c.found, c.secrets, len(c.falseAlarms), c.negatives)
		if percent(c.found, c.secrets) < 95 || len(c.falseAlarms) > 0 {
			t.Errorf("%s: missed %s\nfalse %s", entity, strings.Join(c.missed, "\n"), strings.Join(c.falseAlarms, "\n"))
		}
	}
}
