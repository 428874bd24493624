package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// readableMessage is a message of a transcript as archive show prints it.
type readableMessage struct {
	Number int      `json:"number"`          // in the transcript, from 1
	Cited  int      `json:"cited,omitempty"` // number by which a summary cites it: 12 for [s12]; 0 = not cited
	Role   string   `json:"role"`
	Refs   []string `json:"refs,omitempty"`
	Parts  []piece  `json:"parts"`
}

// piece is a part of a message.
type piece struct {
	Kind string `json:"kind"`
	Name string `json:"name,omitempty"` // name of a tool
	Text string `json:"text"`
}

// cite returns the citation of a message in summaries, "" if there is none.
func (m *readableMessage) cite() string {
	if m.Cited == 0 {
		return ""
	}
	return fmt.Sprintf("[s%d] ", m.Cited)
}

// byNumber sorts file names by step number, which may have more than three digits,
// and files of one step by attempt.
func byNumber(x, y string) int {
	step, attempt, _ := strings.Cut(x, ".")
	other, against, _ := strings.Cut(y, ".")
	return cmp.Or(len(step)-len(other), strings.Compare(step, other), len(attempt)-len(against), strings.Compare(attempt, against))
}

// saidIn parses a line of a transcript.
func saidIn(line []byte, number int) (readableMessage, error) {
	var about struct {
		Meta struct {
			Refs []string `json:"refs"`
		} `json:"meta"`
	}
	if err := json.Unmarshal(line, &about); err != nil {
		return readableMessage{}, err
	}
	f, err := formats.Read("auto", slices.Clone(line))
	if err != nil {
		return readableMessage{}, err
	}
	one := readableMessage{Number: number, Refs: about.Meta.Refs}
	for _, m := range f.Messages() {
		one.Role = string(m.Role)
		for _, p := range m.Parts {
			text := p.Text
			if p.Kind == message.KindToolCall {
				text = string(p.Args)
			}
			one.Parts = append(one.Parts, piece{p.Kind.String(), p.Name, text})
		}
	}
	return one, nil
}

// printConversation writes one line for each message.
func (a *app) printConversation(c *conversation) error {
	if len(c.Said) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", a.style.dim("conversation, from "+c.From()))
	cited := false
	for i := range c.Said {
		m := &c.Said[i]
		cited = cited || m.Cited > 0
		fmt.Fprintf(&b, "%5d  %-9s  %s\n", m.Number, oneLine(m.Role), clip(m.cite()+m.first(), a.columns()-18))
	}
	if cited {
		fmt.Fprintf(&b, "\n%s\n", a.style.dim("summaries cite a message by the [s12] in front of it; to read all of it: compactctl archive recall SESSION s12"))
	}
	_, err := io.WriteString(a.out, b.String())
	return err
}

// first returns the beginning of a message: the first part with text.
func (m *readableMessage) first() string {
	for _, p := range m.Parts {
		text := oneLine(p.Text[:min(len(p.Text), maxWords)])
		if p.Kind == message.KindToolCall.String() {
			text = "→ " + oneLine(p.Name) + " " + text
		}
		if text != "" {
			return text
		}
	}
	return ""
}

// showTurn writes the original messages of a turn.
func (a *app) showTurn(ctx context.Context, archive storage.Archive, name string, turn int) error {
	text, err := recall.Text(ctx, archive, name, fmt.Sprintf("turn:%d", turn))
	if errors.Is(err, recall.ErrNotFound) {
		return fmt.Errorf("the archive has no turn %d of session %q", turn, name)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, printable(strings.TrimSuffix(text, "\n")))
	return err
}

// showSummary writes the summary of a step.
func (a *app) showSummary(ctx context.Context, s *record.Session, step int) error {
	name := ""
	for info, err := range s.Files(ctx) {
		if err != nil {
			return &brokenArchive{err}
		}
		if file := info.Key.Base(); strings.HasPrefix(file, fmt.Sprintf("summary-%03d.", step)) && (name == "" || byNumber(file, name) > 0) {
			name = file
		}
	}
	if name == "" {
		return fmt.Errorf("step %d made no summary", step)
	}
	data, err := fileOf(ctx, s, name)
	if err != nil {
		return err
	}
	var sum policy.SummaryInfo
	if err := json.Unmarshal(data, &sum); err != nil {
		return &brokenArchive{fmt.Errorf("%s: %w", name, err)}
	}
	if a.json {
		return a.printJSON(sum)
	}
	by := sum.Backend
	if sum.Model != "" {
		by += " " + sum.Model
	}
	fmt.Fprintf(a.out, "%s\n", a.style.bold(fmt.Sprintf("summary of step %d: %s by %s, of %s, %s tokens", step, oneLine(sum.Strategy), oneLine(by), things(sum.Input, "message"), count(sum.Tokens))))
	_, err = fmt.Fprintln(a.out, printable(strings.TrimSuffix(sum.Text, "\n")))
	return err
}

func fileOf(ctx context.Context, s *record.Session, name string) ([]byte, error) {
	r, err := s.Open(ctx, name, 0, -1)
	if err != nil {
		return nil, &brokenArchive{err}
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, &brokenArchive{err}
	}
	return data, nil
}

// showPage renders a conversation as a page that needs no network. The template
// escapes all text.
var showPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("show").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Session}}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
:root{color-scheme:light dark}
body{overflow-wrap:anywhere;font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
article{border-top:1px solid #ccc;padding:.6rem 0}
h1{font-size:1.3rem} h2{font-size:.9rem;margin:0;color:#555}
pre{white-space:pre-wrap;margin:.3rem 0;font:13px/1.45 ui-monospace,monospace}
.user pre{background:#eef4ff}.tool pre{background:#f6f6f6}
@media (prefers-color-scheme:dark){body{color:#ddd;background:#181818}.user pre{background:#1d2838}.tool pre{background:#222}h2{color:#aaa}}
</style></head><body><h1>{{.Session}}</h1><p>{{len .Said}} messages of {{.From}}, redacted as they are in the archive</p>
{{range .Said}}<article class="{{.Role}}" id="m{{.Number}}"><h2>{{.Number}} {{.Role}}{{if .Cited}} · cited as [s{{.Cited}}]{{end}}{{range .Refs}} · recall {{.}}{{end}}</h2>
{{range .Parts}}{{if .Name}}<p>{{.Kind}} {{.Name}}</p>{{end}}<pre>{{.Text}}</pre>{{end}}</article>
{{end}}</body></html>
`))
})

// cleaned returns the conversation without control characters.
func (c *conversation) cleaned() *conversation {
	out := &conversation{Session: printable(c.Session), File: printable(c.File), Later: c.Later, Said: slices.Clone(c.Said)}
	for i := range out.Said {
		m := &out.Said[i]
		m.Role, m.Refs, m.Parts = printable(m.Role), slices.Clone(m.Refs), slices.Clone(m.Parts)
		for k := range m.Refs {
			m.Refs[k] = printable(m.Refs[k])
		}
		for k := range m.Parts {
			p := &m.Parts[k]
			p.Name, p.Text = printable(p.Name), printable(p.Text)
		}
	}
	return out
}
