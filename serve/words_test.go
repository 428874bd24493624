package serve

import (
	"net/http"
	"net/url"
	"testing"
)

// The words of the page are right at each of their limits.
func TestNumbersOnThePage(t *testing.T) {
	sum := func(history, sent int) string { return liveView{liveSum: liveSum{History: history, Sent: sent}}.Less() }
	for _, c := range []struct{ name, got, want string }{
		{"nothing", usd(0), "$0.00"}, {"little", usd(0.0099), "less than $0.01"}, {"a cent", usd(0.01), "$0.01"}, {"a loss", usd(-1), "$-1.00"},
		{"one", plural(1, "call"), "1 call"}, {"none", plural(0, "call"), "0 calls"}, {"many", plural(1234, "call"), "1,234 calls"},
		{"hundreds", thousands(999), "999"}, {"millions", thousands(1234567), "1,234,567"}, {"a small loss", thousands(-999), "-999"}, {"a loss of thousands", thousands(-1000), "-1,000"},
		{"on an axis", briefly(9999), "9,999"}, {"ten thousand", briefly(10_000), "10k"}, {"below a million", briefly(999_000), "999k"}, {"a million", briefly(1_500_000), "1.5M"},
		{"between calls", whole(1.5), ""}, {"a call", whole(2), "2"},
		{"of no window", share(5, 0), ""}, {"half", share(5, 10), "50 %"},
		{"no tokens", sum(0, 0), ""}, {"tokens", sum(4000, 1000), "1,000 tokens of prompts in place of 4,000 (25 %)"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// Only this machine sees the page.
func TestOnlyThisMachineIsLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:80": true, "127.0.0.1": true, "localhost": true, "localhost:8484": true, "[::1]:80": true, "[::1]": true, "::1": true,
		"10.0.0.1:80": false, "example.com": false, "localhost.example.com:80": false, "": false, "[::2]:80": false,
	} {
		if isLoopback(address) != want {
			t.Errorf("%q: %v", address, !want)
		}
	}
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"} {
		if !isForwarded(http.Header{name: {"x"}}) {
			t.Errorf("a request with %s", name)
		}
	}
	if isForwarded(http.Header{"Accept": {"*/*"}}) {
		t.Error("a request without a proxy's headers counts as forwarded")
	}
}

// A path without a provider's name is the path of at most one provider, and a key in the
// request must not be another's.
func TestPathsAndKeysNameTheirProvider(t *testing.T) {
	for path, want := range map[string][2]string{ // without a name, and in errors
		"/v1/messages": {forAnthropic, forAnthropic}, "/v1/messages/count_tokens": {forAnthropic, forAnthropic}, "/v1/complete": {forAnthropic, forAnthropic}, "/v1/chat/completions": {forOpenAI, forOpenAI},
		"/chat/completions": {forOpenAI, forOpenAI}, "/responses": {forOpenAI, forOpenAI}, "/v1beta/models": {forGemini, forGemini}, "/v1alpha/models": {forGemini, forGemini},
		"/upload/v1beta/files": {forGemini, forGemini}, "/upload/files": {"", ""}, "/files/v1beta/x": {"", forGemini}, "/v1/models/g:generateContent": {forGemini, forGemini}, "/models/g:streamGenerateContent": {forGemini, forGemini},
		"/models/g:tune": {"", ""}, "/gemini/anything": {"", forGemini}, "/groq/v1/messages": {"", forAnthropic}, "/groq/v1/models": {"", forOpenAI}, "/groq/other": {"", ""},
	} {
		if got := [2]string{bare(path), formOf(path)}; got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for _, c := range []struct {
		name, header, query string
		want                bool
	}{
		{forOpenAI, "Authorization", "", false}, {forOpenAI, "X-Api-Key", "", true}, {forAnthropic, "X-Api-Key", "", false}, {forGemini, "X-Api-Key", "", true},
		{forOpenAI, "Anthropic-Version", "", true}, {forAnthropic, "Anthropic-Version", "", false}, {forGemini, "X-Goog-Api-Key", "", false}, {forOpenAI, "X-Goog-Api-Key", "", true},
		{forGemini, "", "key=k", false}, {forOpenAI, "", "key=k", true}, {forAnthropic, "", "key=", true}, {forOpenAI, "", "keys=k", false},
	} {
		r := &http.Request{URL: &url.URL{RawQuery: c.query}, Header: http.Header{c.header: {"x"}}}
		if carriesForeignKey(c.name, r) != c.want {
			t.Errorf("%+v: %v", c, !c.want)
		}
	}
}
