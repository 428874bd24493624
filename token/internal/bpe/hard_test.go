package bpe

import (
	"encoding/base64"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// hardTexts returns texts of about size bytes that are hard for a tokenizer: one
// long piece, very many short pieces, borders that are hard to find.
func hardTexts(size int) map[string]string {
	rng := rand.New(rand.NewPCG(3, 14))
	random := func(alphabet string) string {
		runes := []rune(alphabet)
		var b strings.Builder
		for b.Len() < size {
			b.WriteRune(runes[rng.IntN(len(runes))])
		}
		return b.String()
	}
	binary := make([]byte, size*3/4)
	for i := range binary {
		binary[i] = byte(rng.Uint32())
	}
	texts := map[string]string{
		"random letters":     random("abcdefghijklmnopqrstuvwxyz"),
		"random upper":       random("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
		"random case":        random("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
		"two letters":        random("ab"),
		"three letters":      random("etn"),
		"random digits":      random("0123456789"),
		"random symbols":     random("!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~"),
		"random white space": random(" \t\n\r\v\f\u00a0\u2003\u3000"),
		"random marks":       random("\u0301\u0300\u0308\u20dd"),
		"random Han":         random("的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学进种将还分此心前面又定见只主没公从"),
		"random Hangul":      random("가나다라마바사아자차카타파하거너더러머버서어저처커터퍼허고노도로모보소오조초코토포호"),
		"random Kana":        random("あいうえおかきくけこさしすせそたちつてとなにぬねのアイウエオカキクケコサシスセソ"),
		"random Thai":        random("กขฃคฅฆงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหฬอฮะัาำิีึืุูเแโใไ"),
		"random Cyrillic":    random("абвгдежзийклмнопрстуфхцчшщъыьэюя"),
		"base64":             base64.StdEncoding.EncodeToString(binary),
		"invalid UTF-8":      string(binary),
		"private use":        random("\ue000\ue001\uf8ff\U000f0000\U0010fffd"),
		"rare Han":           random("\U0002a700\U0002b740\U0003134a\U00020000"),
	}
	for name, unit := range map[string]string{
		"a": "a", "A": "A", "space": " ", "newline": "\n", "underscore": "_", "dash": "-", "equals": "=", "zero": "0", "NUL": "\x00",
		"one Han": "的", "box": "─", "emoji": "👩🏽\u200d💻", "flags": "🇩🇪", "hearts": "❤️", "CRLF": "\r\n", "CR CR LF": "\r\r\n", "BOM": "\ufeff",
		"apostrophes": "'s'LL're'", "camel": "aB", "slashes": "/\n", "tabs": "\t ", "combining": "e\u0301", "abc": "abc", "lo": "lololo l",
	} {
		texts[name] = strings.Repeat(unit, size/len(unit)+1)
	}
	return texts
}

// TestNoTextTakesMoreThanLinearTime would take minutes if a piece of 200 kB were
// merged in quadratic time.
func TestNoTextTakesMoreThanLinearTime(t *testing.T) {
	const limit = 5 * time.Second // a hundred times the usual time
	each(t, func(t *testing.T, s subject) {
		for name, text := range hardTexts(scaled(10_000, 200_000, 1_000_000)) {
			begin := time.Now()
			tokens := s.enc.Count(text)
			if took := time.Since(begin); took > limit {
				t.Errorf("%s: %v for %d tokens", name, took, tokens)
			}
		}
	})
}
