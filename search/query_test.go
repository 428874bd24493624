package search

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestWordsOfAQuery(t *testing.T) {
	for words, want := range map[string]struct {
		match string
		parts []string
	}{
		`load`:               {`"load"`, nil},
		`Load the store`:     {`"Load" AND "the" AND "store"`, nil},
		`load*`:              {`"load"*`, nil},
		`"load the" store`:   {`"load the" AND "store"`, nil},
		`"load the"* store`:  {`"load the"* AND "store"`, nil},
		`"not closed store`:  {`"not closed store"`, nil},
		`load"the"store`:     {`"load" AND "the" AND "store"`, nil},
		`42`:                 {`"42"`, nil},
		`a.go:7`:             {`"a.go:7"`, nil},
		`- load --`:          {`"load"`, nil},
		`日本 load`:            {`"load"`, []string{"日本"}},
		`日本語 ไทย`:            {``, []string{"日本語", "ไทย"}},
		"load\x00store":      {`"load" AND "store"`, nil},
		" \tload \n store  ": {`"load" AND "store"`, nil},
		`NEAR OR load`:       {`"NEAR" AND "OR" AND "load"`, nil},
		`größe`:              {`"größe"`, nil},
	} {
		got, err := parse(words)
		if err != nil || got.match != want.match || !slices.Equal(got.parts, want.parts) {
			t.Errorf("%q is %q with the parts %q, %v, want %q with %q", words, got.match, got.parts, err, want.match, want.parts)
		}
	}
	for _, words := range []string{"", " ", `""`, "*", "-- ::", `"*"`, "\x00"} {
		if _, err := parse(words); !errors.Is(err, ErrNoWords) {
			t.Errorf("%q: %v", words, err)
		}
	}
}

// The characters around a match occur in no text, so that no text can forge a match.
func TestTextsOfTheIndexContainNoMarks(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "a\x01b\x02c": "a b c", "a\x00b": "a b", "a\xffb": "a\uFFFDb", "größe\n": "größe\n", "": "",
	} {
		if got := clean(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestTheFirstLineWithAMatchIsShown(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, tc := range []struct {
		marked string
		line   string
		count  int
	}{
		{"one\ntwo \x01needle\x02 three\r\nfour\n\x01needle\x02", "two needle three", 2},
		{"nothing", "", 0},
		{x(394) + "\x01needle\x02", x(394) + "needle", 1},
		{x(395) + "\x01needle\x02", "…" + x(394) + "needle", 1},
		{"\x01needle\x02" + x(395), "needle" + x(394) + "…", 1},
		{x(500) + "\x01needle\x02" + x(500), "…" + x(100) + "needle" + x(294) + "…", 1},
		{strings.Repeat("ä", 250) + "a\x01needle\x02" + x(500), "…" + strings.Repeat("ä", 49) + "aneedle" + x(294) + "…", 1},
	} {
		line, count := lineOf(tc.marked)
		if line != tc.line || count != tc.count {
			t.Errorf("%.40q: %q of %d lines, want %q of %d", tc.marked, line, count, tc.line, tc.count)
		}
	}
}
