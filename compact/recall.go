package compact

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// A RecallOption says which part of a text is wanted. Without one it is the
// whole.
type RecallOption func(lines []string) []string

// Head returns the first n lines.
func Head(n int) RecallOption {
	return func(lines []string) []string { return lines[:min(max(n, 0), len(lines))] }
}

// Tail returns the last n lines.
func Tail(n int) RecallOption {
	return func(lines []string) []string { return lines[len(lines)-min(max(n, 0), len(lines)):] }
}

// Lines returns the lines from first to last, counted from 1, both included.
func Lines(first, last int) RecallOption {
	return func(lines []string) []string {
		from := min(max(first-1, 0), len(lines))
		return lines[from:max(from, min(last, len(lines)))]
	}
}

// Matching returns the lines that match, each with so many lines around it.
func Matching(pattern *regexp.Regexp, around int) RecallOption {
	return func(lines []string) []string {
		var out []string
		next := 0
		for i, line := range lines {
			if !pattern.MatchString(line) {
				continue
			}
			for k := max(next, i-around); k <= min(i+around, len(lines)-1); k++ {
				out = append(out, lines[k])
				next = k + 1
			}
		}
		return out
	}
}

// Recall returns what a placeholder stands for, from the archive, redacted.
// ref is what the placeholder says, or a longer hex fingerprint of a message
// or of a part (at least 8 digits). The error is [ErrNotFound] when the
// archive holds no such text, or an *[ArchiveError].
func (m *CompactManager) Recall(ctx context.Context, sessionID, ref string, opts ...RecallOption) (string, error) {
	ref = strings.ToLower(strings.TrimSpace(ref))
	if len(ref) < 8 || strings.Trim(ref, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%w: %q is not a reference (8 or more hex digits)", ErrNotFound, ref)
	}
	if sessionID == "" {
		return "", ErrSession
	}
	s, err := m.session(ctx, sessionID)
	if err != nil {
		return "", err
	}
	defer m.release(s)
	for info, err := range s.log.Files(ctx) {
		if err != nil {
			return "", &ArchiveError{Op: "read", Session: sessionID, Err: err}
		}
		name := path.Base(info.Key.String())
		if !strings.HasSuffix(name, ".jsonl") || !strings.HasPrefix(name, "transcript-") && !strings.HasPrefix(name, "originals-") {
			continue
		}
		text, found, err := s.find(ctx, name, ref)
		if err != nil {
			return "", &ArchiveError{Op: "read", Session: sessionID, Err: err}
		}
		if found {
			return choose(text, opts), nil
		}
	}
	return "", fmt.Errorf("%w: %s", ErrNotFound, ref)
}

func choose(text string, opts []RecallOption) string {
	if len(opts) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for _, o := range opts {
		lines = o(lines)
	}
	return strings.Join(lines, "\n")
}

// find looks through one file for the message, or the part, that ref names.
func (s *session) find(ctx context.Context, name, ref string) (string, bool, error) {
	r, err := s.log.Open(ctx, name, 0, -1)
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if text, ok := inLine(line, ref); ok {
			return text, true, nil
		}
		if errors.Is(err, io.EOF) {
			return "", false, nil
		}
		if err != nil {
			return "", false, err
		}
	}
}

// inLine returns the text that ref names, if this line of a transcript has it.
func inLine(line []byte, ref string) (string, bool) {
	if !strings.Contains(string(line), `"`+ref[:min(len(ref), 12)]) {
		return "", false
	}
	fp, refs := meta(line)
	m, err := openai.ParseMessage(line)
	if err != nil {
		return "", false
	}
	for i, r := range refs {
		if i < len(m.Parts) && strings.HasPrefix(r, ref[:min(len(ref), len(r))]) {
			return partText(m.Parts[i]), true
		}
	}
	if !strings.HasPrefix(fp, ref) {
		return "", false
	}
	texts := make([]string, len(m.Parts))
	for i, p := range m.Parts {
		texts[i] = partText(p)
	}
	return strings.Join(texts, "\n"), true
}

func partText(p message.Part) string {
	if p.Kind == message.KindToolCall {
		return p.Name + " " + string(p.Args)
	}
	return p.Text
}

// meta reads what the archive says of a line.
func meta(line []byte) (fp string, refs []string) {
	whole, err := jsonscan.Value(line, 0)
	if err != nil {
		return "", nil
	}
	_ = jsonscan.Object(line, whole, func(mem jsonscan.Member) error {
		if mem.Key != "meta" || line[mem.Value.Start] != '{' {
			return nil
		}
		return jsonscan.Object(line, mem.Value, func(in jsonscan.Member) error {
			switch {
			case in.Key == "fp":
				fp, _ = jsonscan.Unquote(in.Value.Of(line))
			case in.Key == "refs" && line[in.Value.Start] == '[':
				return jsonscan.Array(line, in.Value, func(_ int, e jsonscan.Span) error {
					r, err := jsonscan.Unquote(e.Of(line))
					refs = append(refs, r)
					return err
				})
			}
			return nil
		})
	})
	return fp, refs
}
