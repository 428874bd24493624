package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// longestErrorPage is the maximum length, in bytes, of a text that consists only of a
// gateway's error.
const longestErrorPage = 800

// serverErrors lists beginnings of errors that a server, a gateway or a browser returns
// in place of a page.
var serverErrors = []string{"400 bad request", "401 unauthorized", "401 authorization required", "403 forbidden", "404 not found", "404 page not found", "405 not allowed", "405 method not allowed",
	"408 request time", "413 request entity", "413 payload", "429 too many requests", "500 internal server error", "501 not implemented", "502 bad gateway", "502 proxy error", "502: bad gateway", "503 service", "503 backend",
	"504 gateway", "504: gateway", "bad gateway", "gateway timeout", "gateway time-out", "service unavailable", "service temporarily unavailable", "internal server error", "upstream connect error", "upstream request timeout",
	"no healthy upstream", "this site can’t be reached", "this site can't be reached", "err_connection_", "err_name_not_", "err_timed_out", "attention required! | cloudflare", "just a moment...", "server error (500)", "error code: 5"}

// serverError reports whether a line begins with an error of serverErrors.
func serverError(line string) bool {
	low := strings.ToLower(strings.TrimLeft(line, "# \t"))
	for _, before := range []string{"http ", "error ", "error: ", "status "} {
		low = strings.TrimPrefix(low, before)
	}
	return prose.BeginsAny(low, serverErrors)
}

// emptyPages lists phrases with which a tool says that a page has no text.
var emptyPages = []string{"no content could be extracted", "no content extracted", "could not extract", "couldn't extract", "failed to extract", "no readable content", "no extractable", "page has no text", "page is empty"}

// emptyPage reports whether a line says that a page has no text.
func emptyPage(line string) bool {
	return len(line) <= longestFailed && line[0] != '#' && prose.HasAny(strings.ToLower(line), emptyPages)
}

// untitled reports whether a line stands for a title that a tool did not find.
func untitled(line string) bool {
	return strings.EqualFold(line, "# none") || strings.EqualFold(line, "# untitled")
}

// errorPage returns the error that a tool returned in place of a page. It returns "" for
// a page.
func errorPage(text string) string {
	text = pageText(text)
	if strings.HasPrefix(text, "<") {
		head := text[:min(len(text), 4<<10)]
		for _, tag := range []string{"title", "TITLE", "h1", "H1"} {
			if t := strings.TrimSpace(between(head, "<"+tag+">", "</"+tag+">")); serverError(t) {
				return prose.Squash(t)
			}
		}
		return ""
	}
	if len(text) > longestErrorPage {
		return ""
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || untitled(line) {
			continue
		}
		if serverError(line) || emptyPage(line) {
			return strings.TrimLeft(line, "# ")
		}
		return ""
	}
	return ""
}

// pageText returns the text of a page from the record that a tool returned. It returns
// the text itself if it is no such record.
func pageText(text string) string {
	text = strings.TrimSpace(text)
	fields := recordOf(text[:min(len(text), mostDigested)])
	longest := ""
	for i := range fields {
		if f := &fields[i]; f.kind == '"' && (strings.Contains(f.key, "content") || f.key == "text" || f.key == "body" || f.key == "html" || f.key == "markdown") && len(f.text) > len(longest) {
			longest = f.text
		}
	}
	if longest != "" {
		return strings.TrimPrefix(longest, "# None ") // "None": the tool did not find a title
	}
	return text
}
