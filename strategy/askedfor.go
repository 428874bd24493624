package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// requestIn returns the part of a user's message that may have the request: its words outside
// of quotations and of documents in tags. The text after the last document precedes the text
// before the first one. It returns the whole message if those texts ask for nothing.
func requestIn(text string) string {
	own := rules.OwnWords(text)
	before, after, ok := outsideTags(own)
	ok = ok && !strings.HasPrefix(own, "<") && !template(own)
	switch {
	case ok && tellsSomewhere(after):
		return after
	case ok && tellsSomewhere(before):
		return before
	}
	return own
}

// tellsSomewhere reports whether a sentence of a text asks or tells somebody to do something.
func tellsSomewhere(text string) bool {
	found := false
	prose.Sentences(text, func(t string, heading bool) {
		found = found || !heading && (rules.Instructs(t) || rules.Inquires(strings.ToLower(t)))
	})
	return found
}

// taskTags lists parts of the names of elements that contain a task and no document.
var taskTags = []string{"task", "query", "request", "issue", "problem", "pr_", "user", "question", "instruction", "goal", "objective", "prompt", "ticket", "requirement", "spec", "description", "message", "criteria", "command", "process", "context"}

// outsideTags returns the texts before the first and after the last document in tags: the
// lines from "<name>" to "</name>". ok is false if there is no document.
func outsideTags(text string) (before, after string, ok bool) {
	lines := strings.Split(text, "\n")
	from, to := -1, -1
	for i := 0; i < len(lines); i++ {
		name := openTag(lines[i])
		if name == "" || prose.HasAny(name, taskTags) {
			continue
		}
		end := slices.IndexFunc(lines[i:], func(l string) bool { return strings.Contains(strings.ToLower(l), "</"+name+">") })
		if end <= 0 {
			continue
		}
		if from < 0 {
			from = i
		}
		i += end
		to = i
	}
	if from < 0 {
		return "", "", false
	}
	return strings.Join(lines[:from], "\n"), strings.Join(lines[to+1:], "\n"), true
}

// openTag returns the name, in lower case, of the element that a line opens, "" if it opens
// no element.
func openTag(line string) string {
	line = strings.ToLower(strings.TrimSpace(line))
	if len(line) < 3 || line[0] != '<' || line[len(line)-1] != '>' {
		return ""
	}
	return tagName(line[1:])
}

// Limits of a request after an introduction, in characters.
const (
	introChars     = 70
	mostInstructed = 2   // sentences
	longestTold    = 700 // bytes; a longer message is a document with a plan or a prompt
)

// wishing lists phrases of sentences that ask for something.
var wishing = []string{"please", "i want", "i need", "we need", "should", "let's", "i'd like", "i would like", "can we", "can you", "could you", "need to", "the task", "the goal", "?", "请", "帮"}

// instructed returns the request of a long message whose first sentence asks for nothing: the
// sentences that tell somebody to do something, after the beginning of the first sentence.
func instructed(text, first string) string {
	if len(text) <= newestChars || len(text) > longestTold || rules.Instructs(first) || rules.Inquires(strings.ToLower(first)) || prose.HasAny(strings.ToLower(first), wishing) {
		return first
	}
	seen, out := false, []string(nil)
	prose.Sentences(text, func(t string, heading bool) {
		t = prose.Squash(t)
		seen = seen || strings.HasPrefix(t, strings.TrimSuffix(prose.Clip(first, introChars), " …"))
		if heading || len(out) >= mostInstructed || !rules.Instructs(t) || rules.Binds(t) > 0 || debris(t) {
			return
		}
		if len(out) == 0 && seen {
			out = append(out, prose.Clip(first, introChars))
		}
		out = append(out, t)
	})
	if len(out) == 0 {
		return first
	}
	return prose.Clip(strings.ReplaceAll(strings.Join(out, " … "), "… …", "…"), prose.MaxSentence)
}

// goalAgain reports whether a line of the previous summary is a request that a new line
// quotes. Such a line has no label, because the previous summary had only this request.
func goalAgain(line string, now []Line) bool {
	begin, _, _ := strings.Cut(withoutSteps(line), " …")
	begin = strings.TrimSpace(begin)
	return len(begin) >= leastAsked && slices.ContainsFunc(now, func(l Line) bool {
		return prose.BeginsAny(l.Text, []string{newestRequest, firstRequest}) && strings.Contains(l.Text, ": "+strings.TrimSuffix(prose.Clip(begin, introChars), " …"))
	})
}
