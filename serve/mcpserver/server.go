// Package mcpserver gives agents that run their own loop access to an archive: a server
// of the Model Context Protocol with the tools sessions, search and recall. It only
// reads; its answers have the archive's text unchanged, redacted.
package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// An Opener opens the archive. It is called for each call of a tool, because the
// archive may not exist yet when the server starts.
type Opener func(ctx context.Context) (storage.Archive, error)

// An Option changes a server.
type Option func(*server)

// Recorder sets a function that the server calls before it reads the text of a session:
// op is "search", "recall" or "sessions" (for the first words of the user), and what is
// the pattern, the reference or "". After an error the
// server reads nothing, and answers with the error. Calls can be concurrent.
func Recorder(record func(ctx context.Context, session, op, what string) error) Option {
	return func(s *server) { s.record = record }
}

// Run serves one client, which writes to in and reads from out, until the client
// disconnects or ctx ends. If the client or ctx ends the session, Run returns no
// error. Requests that came before the end of in are answered; an invalid line is
// answered with an error.
func Run(ctx context.Context, open Opener, version string, in io.ReadCloser, out io.WriteCloser, opts ...Option) error {
	client := newLines(in, out, ctx.Done())
	err := newServer(open, version, opts...).Run(ctx, client)
	if ctx.Err() != nil || client.gone.Load() {
		return nil
	}
	return err
}

// server answers the tools.
type server struct {
	open   Opener
	record func(ctx context.Context, session, op, what string) error
}

func newServer(open Opener, version string, opts ...Option) *mcp.Server {
	s := &server{open: open, record: func(context.Context, string, string, string) error { return nil }}
	for _, o := range opts {
		o(s)
	}
	m := mcp.NewServer(&mcp.Implementation{Name: "compact", Title: "Text removed from conversations", Version: version}, nil)
	reads := &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}
	mcp.AddTool(m, &mcp.Tool{
		Name: "sessions", Annotations: reads,
		Description: "List the conversations with removed and archived text, the newest first. To choose one, set about: it adds the model and the first words of the user.",
	}, s.sessions)
	mcp.AddTool(m, &mcp.Tool{
		Name: "search", Annotations: reads,
		Description: "Search the text that was removed from a conversation, line by line, for a regular expression; without capitals it matches in any case. Each match names the reference that recall takes.",
	}, s.search)
	mcp.AddTool(m, &mcp.Tool{
		Name: "recall", Annotations: reads,
		Description: "Read text again that was removed from a conversation: by the reference in a placeholder (\"recall 3f9a2c1b77de\"), by a summary's citation (s12 or s12-s20), or by turn (turn:17, turn:17:observation).",
	}, s.recall)
	return m
}

type (
	sessionsIn struct {
		Most  int  `json:"most,omitempty" jsonschema:"how many at most; default 50"`
		About bool `json:"about,omitempty" jsonschema:"true: also the model and the first words of the user in each"`
	}
	sessionsOut struct {
		Sessions []listed `json:"sessions"`
		More     int      `json:"more,omitempty" jsonschema:"how many there are beside those"`
	}
	listed struct {
		Session  string `json:"session"`
		Steps    int    `json:"compactions"`
		Bytes    int64  `json:"bytes"`
		Modified string `json:"modified"`
		Model    string `json:"model,omitempty" jsonschema:"of the last compaction"`
		Begins   string `json:"begins,omitempty" jsonschema:"the first words of the user"`
		Problem  string `json:"problem,omitempty" jsonschema:"why they can't be read"`
		info     record.SessionInfo
	}
	searchIn struct {
		Session string `json:"session" jsonschema:"as sessions lists it"`
		Pattern string `json:"pattern" jsonschema:"a regular expression (RE2)"`
		Most    int    `json:"most,omitempty" jsonschema:"how many lines at most; default 50"`
		Context int    `json:"context,omitempty" jsonschema:"so many lines around each, 50 at most"`
	}
	recallIn struct {
		Session string `json:"session" jsonschema:"as sessions lists it"`
		Ref     string `json:"ref" jsonschema:"the reference"`
		Lines   string `json:"lines,omitempty" jsonschema:"FROM-TO, from 1; default: all, up to 32,000 characters"`
		Grep    string `json:"grep,omitempty" jsonschema:"only the lines that match this regular expression, in place of lines"`
	}
)

const (
	defaultMost = 50
	maxText     = 32_000 // characters of an answer
)

func (s *server) sessions(ctx context.Context, _ *mcp.CallToolRequest, in sessionsIn) (*mcp.CallToolResult, sessionsOut, error) {
	out := sessionsOut{Sessions: []listed{}}
	archive, err := s.open(ctx)
	if err != nil {
		return nil, out, err
	}
	for info, err := range record.Sessions(ctx, archive) {
		if err != nil {
			return nil, out, err
		}
		name := info.ID
		if name == "" {
			name = info.Dir
		}
		out.Sessions = append(out.Sessions, listed{Session: name, Steps: info.Steps, Bytes: info.Bytes, Modified: info.Modified.UTC().Format(time.RFC3339), info: info})
	}
	slices.SortStableFunc(out.Sessions, func(a, b listed) int { return strings.Compare(b.Modified, a.Modified) })
	if most := orDefault(in.Most); len(out.Sessions) > most {
		out.More = len(out.Sessions) - most
		out.Sessions = out.Sessions[:most]
	}
	if !in.About {
		return nil, out, nil
	}
	for i := range out.Sessions {
		one := &out.Sessions[i]
		if err := s.record(ctx, one.Session, "sessions", ""); err != nil {
			return nil, sessionsOut{Sessions: []listed{}}, err
		}
		one.describe(ctx, archive, one.info)
	}
	return nil, out, ctx.Err()
}

func orDefault(most int) int {
	if most <= 0 {
		return defaultMost
	}
	return most
}

func (s *server) search(ctx context.Context, _ *mcp.CallToolRequest, in searchIn) (*mcp.CallToolResult, recall.Found, error) {
	out := recall.Found{Matches: []recall.Match{}}
	pattern, err := recall.SearchPattern(in.Pattern)
	if err != nil {
		return nil, out, err
	}
	archive, err := s.open(ctx)
	if err == nil {
		err = s.record(ctx, in.Session, "search", in.Pattern)
	}
	if err != nil {
		return nil, out, err
	}
	found, err := recall.Search(ctx, archive, in.Session, pattern, orDefault(in.Most), recall.Around(in.Context))
	if found.Matches == nil { // the schema requires a list
		found.Matches = out.Matches
	}
	if err == nil && len(found.Matches) == 0 {
		err = listedIn(ctx, archive, in.Session)
	}
	return nil, found, err
}

// listedIn returns an error if the archive has no session of that name, so that a
// typing error does not look like an empty result.
func listedIn(ctx context.Context, archive storage.Archive, session string) error {
	for info, err := range record.Sessions(ctx, archive) {
		if err != nil || info.ID == session || info.Dir == session {
			return err
		}
	}
	return fmt.Errorf("there is no session %q; the tool sessions lists them", session)
}

func (s *server) recall(ctx context.Context, _ *mcp.CallToolRequest, in recallIn) (*mcp.CallToolResult, any, error) {
	opts, err := in.options()
	if err != nil {
		return nil, nil, err
	}
	archive, err := s.open(ctx)
	if err == nil {
		err = s.record(ctx, in.Session, "recall", in.Ref)
	}
	if err != nil {
		return nil, nil, err
	}
	text, err := recall.Text(ctx, archive, in.Session, in.Ref, opts...)
	if errors.Is(err, recall.ErrNotFound) {
		err = cmp.Or(listedIn(ctx, archive, in.Session), err)
	}
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: bounded(text)}}}, nil, nil
}

// options returns the options for the requested part of a text.
func (in recallIn) options() ([]recall.Option, error) {
	switch {
	case in.Lines != "" && in.Grep != "":
		return nil, errors.New("lines and grep can't go together")
	case in.Grep != "":
		re, err := regexp.Compile(in.Grep)
		if err != nil {
			return nil, err
		}
		return []recall.Option{recall.Matching(re, 0)}, nil
	case in.Lines == "":
		return nil, nil
	}
	var from, to int
	if n, err := fmt.Sscanf(in.Lines, "%d-%d", &from, &to); n != 2 || err != nil || from < 1 || to < from {
		return nil, fmt.Errorf("lines %q is not FROM-TO, such as 10-20", in.Lines)
	}
	return []recall.Option{recall.Lines(from, to)}, nil
}

// bounded cuts a text that would fill the window from which it was removed.
func bounded(text string) string {
	if len(text) <= maxText {
		return text
	}
	cut := strings.LastIndexByte(text[:maxText], '\n') + 1
	if cut == 0 { // one long line, so the model can't request other lines
		begins := strings.ToValidUTF8(text[:maxText], "")
		return fmt.Sprintf("%s\n[%d bytes are shown of %d: see compactctl archive export for the rest of the line]\n", begins, len(begins), len(text))
	}
	return fmt.Sprintf("%s[%d lines are shown of %d: ask for others with lines]\n", text[:cut], strings.Count(text[:cut], "\n"), strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1)
}
