package redact

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
)

// masked returns s with its secrets as asterisks.
func masked(s string, secrets ...string) string {
	var k Known
	for _, secret := range secrets {
		k.Add(secret)
	}
	b := []byte(s)
	for _, at := range k.Find(s) {
		for i := at[0]; i < at[1]; i++ {
			b[i] = '*'
		}
	}
	return string(b)
}

func TestKnownSecretsAreFoundInEverySpelling(t *testing.T) {
	for secret, forms := range map[string][]string{
		"Größe-7788-Zürich": {`Größe-7788-Zürich`, `Gr\u00f6\u00dfe-7788-Z\u00FCrich`, `Gr\\u00f6\\u00dfe-7788-Z\\u00fcrich`, `Gr%C3%B6%c3%9fe-7788-Z%C3%BCrich`, `Gr&ouml;&#223;e-7788-Z&#xfc;rich`},
		"abc&DEF<1234>ZZ":   {`abc\u0026DEF\u003c1234\u003eZZ`, `abc&amp;DEF&lt;1234&gt;ZZ`, `abc\u0026amp;DEF\u0026lt;1234\u0026gt;ZZ`},
		`p"w/1x`:            {`p\"w\/1x`, `p\\\"w/1x`, `p\\\\\\\"w/1x`, `p&quot;w/1x`, `p%22w/1x`, `p\u0022w\u002f1x`},
		`it's 😀 a/b`:        {`it's \ud83d\uDE00 a\/b`, `it&#x27;s &#128512; a/b`, `it%27s%20%F0%9F%98%80%20a/b`, `it's+%f0%9f%98%80+a%2fb`},
		"x1y2":              {`x1y2`, `eDF5Mg==`},
	} {
		for _, form := range forms {
			before, after := `{"role":"user","content":"it is `, ` there"}`
			if got, want := masked(before+form+after, secret), before+strings.Repeat("*", len(form))+after; got != want {
				t.Errorf("%q in %s: got %s, want only the secret masked", secret, form, got)
			}
		}
	}
}

func TestKnownSecretsDoNotBeginInAnEscape(t *testing.T) {
	for _, line := range []string{`"a\nginx-pass"`, `"a\\\nginx-pass"`} {
		if got := masked(line, "nginx-pass"); got != line {
			t.Errorf("%s: changed to %s", line, got)
		}
	}
	if got := masked(`"C:\\nginx-pass"`, "nginx-pass"); got != `"C:\\**********"` {
		t.Errorf("got %s, want %s", got, `"C:\\**********"`)
	}
	if got := masked(`"\n5n5n5"`, "n5n5"); got != `"\n5****"` {
		t.Errorf("got %s, want %s", got, `"\n5****"`)
	}
}

// A match that begins or ends inside an escape leaves no half of the escape,
// even if the secret has its own escapes.
func TestKnownSecretsInsideOfOthersLeaveEscapesWhole(t *testing.T) {
	for line, want := range map[string]string{
		`"\n%67inx-pass"`:  `"\n***********"`,
		`"\n%35n%35n5"`:    `"\n*********"`,
		`"nginx%2Dpass\n"`: `"************\n"`,
		`"p%61th\" or"`:    `"******** or"`,
	} {
		if got := masked(line, "nginx-pass", "n5n5", `path\`); got != want {
			t.Errorf("%s: got %s, want whole escapes", line, got)
		}
	}
}

func TestKnownSecretsOverlap(t *testing.T) {
	if got := masked("abcdefgh", "abcde", "defgh"); got != "********" {
		t.Errorf("got %s, want all overlapping secrets masked", got)
	}
	var none Known
	none.Add("abc") // shorter than MinKnown
	if got := none.Find("abc abcd"); !slices.Equal(got, nil) {
		t.Errorf("got %v, want a secret below MinKnown unchanged", got)
	}
}

// Texts with many levels of encoding take linear time.
func TestKnownSecretsAreFoundInLinearTime(t *testing.T) {
	unit := strings.Repeat(`\`, 64) + "%25252525&amp;amp;amp;" + strings.Repeat("x1y", 8)
	took := func(n int) time.Duration {
		start := cputime.Used()
		masked(strings.Repeat(unit, n), "x1y2z3", "x1yx1yx1zz")
		return cputime.Used() - start
	}
	took(100)
	small, large := took(500), took(5000)
	t.Logf("%d bytes took %v, 10 times as many %v", 500*len(unit), small, large)
	if large > 30*small+100*time.Millisecond {
		t.Errorf("%v, and %v for 10 times as much, want at most 30 times as long", small, large)
	}
}

// The time stays linear if a secret begins at each byte.
func TestKnownSecretsThatOverlapAreFoundInLinearTime(t *testing.T) {
	took := func(n int) time.Duration {
		text := strings.Repeat("a", n) + `\u0061%61&#97;`
		start := cputime.Used()
		if got := masked(text, "aaaa"); got != strings.Repeat("*", len(text)) {
			t.Errorf("%d bytes: a part of the secrets is left", n)
		}
		return cputime.Used() - start
	}
	took(1000)
	small, large := took(10_000), took(100_000)
	t.Logf("10 kB took %v, 10 times as many %v", small, large)
	if large > 30*small+100*time.Millisecond {
		t.Errorf("%v, and %v for 10 times as much, want at most 30 times as long", small, large)
	}
}

// A value that is revealed once is removed in the spellings of other programs.
func TestAKnownSecretIsFoundInOtherSpellings(t *testing.T) {
	secret := `Gr7ö"ße/Zx9<q2&W😀k`
	for what, form := range map[string]string{
		"Python":            `Gr7\u00f6\"\u00dfe/Zx9<q2&W\ud83d\ude00k`,
		"Go":                `Gr7ö\"ße/Zx9\u003cq2\u0026W😀k`,
		"PHP":               `Gr7\u00f6\"\u00dfe\/Zx9<q2&W\ud83d\ude00k`,
		"nested":            `Gr7\\u00f6\\\"\\u00dfe/Zx9<q2&W\\ud83d\\ude00k`,
		"URL, lower case":   `Gr7%c3%b6%22%c3%9fe%2fZx9%3cq2%26W%f0%9f%98%80k`,
		"URL, slashes bare": `Gr7%C3%B6%22%C3%9Fe/Zx9%3Cq2%26W%F0%9F%98%80k`,
		"HTML by name":      `Gr7&ouml;&quot;&szlig;e/Zx9&lt;q2&amp;W😀k`,
	} {
		for _, known := range []bool{true, false} {
			s := newRedactor(t, Options{}).Session()
			given := "DB_PASSWORD='" + secret + "'\n"
			text := "the log says " + form + " and goes on"
			if known {
				s.Learn([]byte(given))
			} else {
				text = given + text
			}
			if got := s.Text(text).String(); !strings.HasSuffix(got, "the log says "+Placeholder+" and goes on") {
				t.Errorf("%s: %s, want the secret removed and the rest kept", what, got)
			}
		}
	}
}
