package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// failedPages lists phrases in titles and lines of error pages, which a server shows in
// place of the requested page.
var failedPages = []string{"error 404", "404 error", "404 not found", "page not found", "file not found", "error 403", "403 forbidden", "access denied", "access to this page has been denied",
	"confirm you are a human", "verify you are human", "verify you are a human", "are you a robot", "unusual traffic", "pardon our interruption", "complete the captcha", "temporarily unavailable"}

// mostOfFailedPage is the maximum length, in bytes, of a failed page whose title does not
// report the failure. A longer text is a page that only mentions a failure.
const mostOfFailedPage = 1500

// longestFailed is the maximum length, in bytes, of a line that says that there is no page. A
// longer line is a sentence about a failure.
const longestFailed = 120

// failedPage returns the first line of an agent's message that says that a page could not
// be shown, and the address of the page. It returns "" for any other message.
func (s *Step) failedPage() (reason, address string) {
	if s.Speaker == "" || s.recap() {
		return "", ""
	}
	short := len(s.Text) <= mostOfFailedPage
	for line := range strings.Lines(s.Text) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "Address:"); ok && address == "" {
			address = strings.TrimSpace(rest)
			continue
		}
		link := between(line, "](", ")")
		titled := strings.HasPrefix(line, "Title:") || link != "" && strings.HasPrefix(line, "Here is a screenshot of [")
		if reason == "" && (short && len(line) <= longestFailed && !prose.ListItem(line) || titled) && (prose.HasAny(strings.ToLower(line), failedPages) || serverError(line)) {
			reason = strings.TrimSpace(strings.TrimPrefix(strings.TrimLeft(line, "# "), "Title:"))
			if title := between(line, "[", "]("); title != "" && link != "" {
				reason, address = title, link
			}
		}
	}
	return prose.Clip(reason, maxErrorLine), address
}

// failedPageLine returns the line about a page that could not be shown, "" if the step has
// no such page.
func (s *Step) failedPageLine() string {
	reason, address := s.failedPage()
	if reason == "" {
		return ""
	}
	if address == "" {
		address = "a page"
	}
	return stepID(s.ID) + " " + s.Speaker + " could not show " + address + ": " + reason
}

// failedPageValue is the value of a line about a page that could not be shown.
const failedPageValue = 0.9

// routes reports whether a message of an agent only names the agent that speaks next.
func routes(text string) bool {
	low := strings.ToLower(strings.TrimSpace(text))
	return prose.BeginsAny(low, []string{"next speaker", "next agent", "handing over to "}) && !strings.Contains(low, "\n") && len(strings.Fields(low)) <= mostRouting
}

// mostRouting is the maximum number of words of a message that only names the next speaker.
const mostRouting = 5

// advertising lists phrases of sentences that a site writes about itself.
var advertising = []string{"rewards points", "newsletter", "accept cookies", "uses cookies", "use cookies", "privacy policy", "terms of use", "all rights reserved", "download the app", "download our app", "sponsored", "skip to content"}

// advertises reports whether a sentence on a page is advertising or belongs to the frame of
// the site.
func advertises(t string) bool { return prose.HasAny(strings.ToLower(t), advertising) }
