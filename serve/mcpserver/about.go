package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// maxBegins is the length, in bytes, of the first words of the user in a list of
// sessions.
const maxBegins = 200

// describe adds the model and the first words of the user to a row of the list. A
// session that can't be read, or was changed, gets a problem in their place.
func (l *listed) describe(ctx context.Context, archive storage.Archive, info record.SessionInfo) {
	var err error
	if l.Model, err = lastModel(ctx, archive, info); err != nil {
		l.Problem = err.Error()
		return
	}
	text, err := recall.Text(ctx, archive, l.Session, "turn:1:request")
	if err != nil && !errors.Is(err, recall.ErrNotFound) {
		l.Problem = err.Error()
	}
	l.Begins = oneLine(text, maxBegins)
}

// lastModel returns the model of the session's last step, or "" for a session
// without a step.
func lastModel(ctx context.Context, archive storage.Archive, info record.SessionInfo) (string, error) {
	if info.Steps == 0 {
		return "", nil
	}
	s, err := record.OpenDir(ctx, archive, info.Dir)
	if err != nil {
		return "", err
	}
	var step struct {
		Model string `json:"model"`
	}
	for l, err := range s.Ledgers(ctx, info.Steps) {
		switch {
		case err != nil:
			return "", err
		case l.Changed != nil:
			return "", l.Changed
		}
		if err := json.Unmarshal(l.Data, &step); err != nil {
			return "", err
		}
	}
	return step.Model, nil
}

// oneLine returns the beginning of a text as one line of at most n bytes, and "…" if
// the text is longer.
func oneLine(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
