package compact

import (
	"fmt"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// bodyLimits are the maximum sizes of a request body in bytes, by wire, as the providers
// publish them: Anthropic 32 MB a request (https://docs.claude.com/en/api/overview),
// Google 100 MB of inline data
// (https://blog.google/innovation-and-ai/technology/developers-tools/gemini-api-new-file-limits),
// OpenAI 50 MB (https://platform.openai.com/docs/guides/images-vision, where it says 512
// MB since April 2026; users report a limit of 50).
var bodyLimits = map[string]int{
	"anthropic": 32_000_000,
	"openai":    50_000_000,
	"responses": 50_000_000,
	"gemini":    100_000_000,
}

// bytesTarget is the target for a body that is too large, in percent of its limit.
const bytesTarget = 60

// bounded returns a budget with the byte limit of this call's body.
func (c *call) bounded(b policy.Budget) policy.Budget {
	limit := c.ep.cfg.MaxRequestBytes
	if limit == 0 && c.q.wire != nil {
		limit = bodyLimits[c.q.wire.Format().Name()]
	}
	if limit >= 0 && c.q.bytes > 0 && (limit == 0 || c.q.bytes < limit) {
		limit = c.q.bytes
	}
	if limit <= 0 {
		return b
	}
	b.MaxBytes, b.TargetBytes = limit, limit/100*bytesTarget
	if c.outside == 0 && c.q.wire != nil {
		c.outside = c.q.wire.About().Bytes
		for _, m := range c.q.wire.Messages() {
			c.outside -= m.Bytes()
		}
	}
	return b
}

// mayBeTooLarge reports whether the incoming body exceeds its limit or has an
// unknown size. Compaction never makes a body larger.
func (c *call) mayBeTooLarge() bool {
	most := c.budget.MaxBytes
	return most > 0 && (c.q.wire == nil || c.q.wire.About().Bytes > most)
}

// bytesOf returns the size of the body with a view, in bytes.
func (c *call) bytesOf(v *policy.View) int { return v.Bytes() - v.Outside + c.outside }

// tooLarge reports whether the body exceeds its limit and holds media that can be
// masked.
func (c *call) tooLarge() bool {
	return c.mayBeTooLarge() && c.view().HasMedia() && c.bytesOf(c.view()) > c.budget.MaxBytes
}

// sayTooLarge warns, once for each lane, about a body that could not be made small
// enough. A dry run does not use up the warning.
func (c *call) sayTooLarge() {
	if !c.mayBeTooLarge() || c.lane.tooLarge || c.untried() {
		return
	}
	n := c.outside
	for i := range c.res.Messages {
		n += c.res.Messages[i].Bytes()
	}
	if n <= c.budget.MaxBytes {
		return
	}
	c.lane.tooLarge = !c.q.dry
	bound := "the provider accepts"
	if c.q.bytes == c.budget.MaxBytes { // learned from a refusal, and smaller than the refused body
		bound = "its limit is"
	}
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf(
		"the request has %d bytes, but %s %d, and no more media can be removed: the rest is text, or media that are pinned, of the last turn or of the last user message (max_request_bytes)",
		n, bound, c.budget.MaxBytes))
}

// untried reports whether this call did not try to make the body smaller.
func (c *call) untried() bool {
	return c.res.Reason == trace.ReasonNever || c.res.Reason == trace.ReasonBusy
}
