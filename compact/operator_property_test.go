package compact_test

import (
	"context"
	"errors"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

// leaked is a secret that no rule finds; clients write it now and then, and operators
// scrub it. scrubbed is the text after a scrub.
const leaked = "zanzibar-lighthouse"

var scrubbed = strings.Repeat("*", len(leaked))

// withoutLeak returns a text as a scrub leaves it.
func withoutLeak(text string) string { return strings.ReplaceAll(text, leaked, scrubbed) }

// operated reports whether operators scrub and erase in the sample of a seed.
func operated(seed uint64) bool { return seed%2 == 1 }

// operation chooses an operator's operation between calls or during them: a scrub, which
// sometimes dies, or, between calls, an erase.
func (c *clients) operation(beside bool) func() {
	dies := -1
	if c.rng.IntN(2) == 0 {
		dies = c.rng.IntN(40)
	}
	if !beside && c.rng.IntN(3) == 0 {
		return c.erase
	}
	return func() { c.scrub(beside, dies) }
}

// lives returns the names of the session in the archive.
func (c *clients) lives() []string {
	c.t.Helper()
	names, err := compact.Lives(context.Background(), c.archive, "s")
	if err != nil {
		c.fail("lives: %v", err)
	}
	return names
}

// scrub removes the leak from the archive; with dies 0 or more the scrub dies after a
// given number of changes.
func (c *clients) scrub(beside bool, dies int) {
	c.t.Helper()
	whole := !beside
	for _, name := range c.lives() {
		var mortal *flaky.Mortal
		archive := c.archive
		if dies >= 0 {
			mortal = flaky.NewMortal(c.archive, dies)
			archive = mortal
		}
		s, err := record.OpenSession(context.Background(), archive, name)
		if err != nil && !errors.Is(err, flaky.ErrDied) {
			c.fail("scrub of %s: %v", name, err)
			return
		}
		if err != nil {
			whole = false
			continue
		}
		done, err := compact.Scrub(context.Background(), s, compact.ScrubOptions{Secrets: []string{leaked}, Reason: redact.Lit("it leaked")})
		c.note("scrub of %s: %d files, steps %v, %v", name, len(done.Files), done.Steps, err)
		c.edited = c.edited || len(done.Steps) > 0 || err != nil
		switch {
		case errors.Is(err, flaky.ErrDied), beside && errors.Is(err, record.ErrInUse):
			whole = false
		case err != nil:
			c.fail("scrub of %s: %v", name, err)
		}
	}
	if whole {
		c.holdsNoLeak()
	}
}

// holdsNoLeak searches the whole archive.
func (c *clients) holdsNoLeak() {
	c.t.Helper()
	for name, data := range filesOf(c.t, c.archive) {
		if strings.Contains(data, leaked) {
			c.fail("%s holds scrubbed text", name)
		}
	}
}

// erase erases the session, and its agents continue.
func (c *clients) erase() {
	c.t.Helper()
	time.Sleep(time.Minute) // a session that was just opened counts as not erased
	for _, p := range c.processes {
		if err := p.Flush(context.Background()); err != nil && !errors.Is(err, flaky.Err) { // of before
			c.fail("flush: %v", err)
		}
	}
	time.Sleep(time.Second) // for background writes
	for _, name := range c.lives() {
		s, err := record.OpenSession(context.Background(), c.archive, name)
		if err != nil {
			c.fail("erase of %s: %v", name, err)
			return
		}
		stone, err := s.Erase(context.Background(), redact.Lit("asked for"))
		if err != nil || !stone.Done {
			c.fail("erase of %s: done %v, %v", name, stone.Done, err)
		}
		c.note("erase of %s", name)
	}
	if left := c.lives(); len(left) > 0 {
		c.fail("of an erased session there is %q", left)
	}
	for fp, gone := range c.gone {
		for _, m := range []*rig{c.processes[0], newRig(c.t, compact.Config{Archive: c.archive})} {
			if got, err := m.Recall(context.Background(), "s", fp); err == nil {
				c.fail("of an erased session is recalled, %s: %.80q", gone.by, got)
			}
		}
		break
	}
	clear(c.gone)
	c.unaware = [2]bool{true, true}
}

// mostPatterns is the number of messages that [clients.searchFor] looks for with patterns of
// their own.
const mostPatterns = 3

// searchFor searches for a line of each message that a view lacked. One search returns the
// lines of all messages; a pattern that matches one line is used for some of them, because
// each search reads the archive.
func (c *clients) searchFor(m *rig, gone []lostMessage) {
	c.t.Helper()
	if c.redacts || len(gone) == 0 {
		return
	}
	all, err := m.Search(context.Background(), "s", regexp.MustCompile(`.`), math.MaxInt)
	if err != nil {
		c.fail("a search for all lines: %v", err)
		return
	}
	lines := map[string]bool{}
	for _, match := range all.Matches {
		lines[strings.TrimRight(match.Text, "\r\n")] = true
	}
	for i, msg := range gone {
		line := lineToFind(msg.Message)
		if line == "" {
			continue
		}
		if !lines[line] && !all.Cut {
			c.fail("%s message, %s: a search for all lines lacks %.60q", msg.Role, msg.by, line)
		}
		if i >= mostPatterns {
			continue
		}
		found, err := m.Search(context.Background(), "s", regexp.MustCompile(regexp.QuoteMeta(line)), 0)
		if err != nil || len(found.Matches) == 0 && !found.Cut {
			c.fail("%s message, %s: a search for %.60q finds %v, %v", msg.Role, msg.by, line, found, err)
		}
	}
}

// lineToFind returns the first line of a message that a search shows whole, "" if none.
func lineToFind(m message.Message) string {
	for _, p := range m.Parts {
		if p.Kind != message.KindText && p.Kind != message.KindToolResult {
			continue
		}
		for line := range strings.Lines(p.Text) {
			line = strings.TrimRight(line, "\r\n")
			if len(line) >= 12 && len(line) <= 300 && !strings.Contains(line, leaked) && utf8.ValidString(line) {
				return line
			}
		}
	}
	return ""
}
