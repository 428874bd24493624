package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// Requests that send varied data to one address are probes. They do not count as effects,
// because a successor may have to repeat the last request, which succeeded.
func TestProbesMayBeRepeated(t *testing.T) {
	post := func(data string) run {
		return run{"curl -X POST -d 'name=" + data + "' http://x.org/cgi-bin/forms.pl", "Your name is " + data}
	}
	record := func(data string) run {
		return run{"curl -X POST -d '" + data + "' https://x.org/orders", `{"id":"` + data + `"}`}
	}
	for name, c := range map[string]struct {
		runs []run
		done int
	}{
		"varied data":         {[]run{post("a"), post("b;id")}, 0},
		"one request":         {[]run{post("a")}, 1},
		"the same again":      {[]run{post("a"), post("a")}, 2},
		"records were made":   {[]run{record("a"), record("b")}, 2},
		"another address":     {[]run{post("a"), {"curl -X POST -d a http://x.org/other", "ok"}}, 2},
		"with another effect": {[]run{{"curl -d a http://x.org/a && git push", "ok"}, {"curl -d b http://x.org/a && git push", "ok"}}, 2},
	} {
		if done := historyOf(c.runs...).effects(); len(done) != c.done {
			t.Errorf("%s: effects %+v, want another number", name, done)
		}
	}
}

// A summary quotes the address of a request, and not its headers.
func TestSummaryQuotesAddressOfRequest(t *testing.T) {
	const cmd = `curl -s -k -X POST -H 'Content-Type: application/json' -H "Authorization: Bearer x" -F file=ARGV http://web.example.org:8000/cgi-bin/file.pl?forms.pl`
	if got := ranCommand(cmd, "ok").name(); got != "`curl -X POST -F file=ARGV http://web.example.org:8000/cgi-bin/file.pl?forms.pl`" {
		t.Errorf("want the address and no header: %s", got)
	}
}

func TestGatewayErrorIsNotAPage(t *testing.T) {
	for result, want := range map[string]string{
		`{"url":"u","crawled_content":"# None\n\nupstream connect error or disconnect/reset before headers."}`: "upstream connect error or disconnect/reset before headers.",
		"<html><head><title>404 Not Found</title></head>":                                                      "404 Not Found",
		"<HTML><BODY><H1>503 Service Unavailable</H1></BODY>":                                                  "503 Service Unavailable",
		"# Untitled\n\nNo content could be extracted from this page":                                           "No content could be extracted from this page",
		"# Empty pages\n\nHow we count them":                                                                   "",
		"HTTP 502 Bad Gateway":                                                                                 "HTTP 502 Bad Gateway",
		"# 404 Media\n\nNews of the day":                                                                       "",
		"<html><title>What 502 Bad Gateway means</title>":                                                      "",
		"How to mend it\n\n502 Bad Gateway":                                                                    "",
		"502 Bad Gateway\n" + strings.Repeat("what it is and how it is mended. ", 40):                          "",
		"": "",
	} {
		if got := errorPage(result); got != want {
			t.Errorf("%q: %q, want %q", result, got, want)
		}
	}
	h := NewHistory(Request{Strategy: TaskState, First: 1, Messages: []message.Message{
		message.Assistant("", message.Call("1", "crawl", `{"url":"https://x.org/a"}`)), message.ToolResult("1", "502 Bad Gateway")}})
	if lines := h.sourceLines(0); len(lines) != 1 || lines[0].Text != "https://x.org/a could not be fetched: 502 Bad Gateway [s1]" {
		t.Errorf("lines %+v, want one about the failed page", lines)
	}
}
