package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// harnessTags are elements that harnesses write in the user's role. No person typed their
// text.
var harnessTags = map[string]bool{
	"system-reminder": true, "system_reminder": true, "environment_context": true, "user_instructions": true, "permissions": true,
	"collaboration_mode": true, "turn_aborted": true, "skill": true, "skills": true, "local-command-caveat": true, "local-command-stdout": true,
	"local-command-stderr": true, "command-name": true, "command-message": true, "command-contents": true, "bash-stdout": true, "bash-stderr": true,
	"task-notification": true, "system_notification": true, "system-notification": true, "current_datetime": true, "user-prompt-submit-hook": true,
	"uploaded_files": true, "environment_details": true, "user_info": true, "git_status": true, "project_layout": true,
	"additional_data": true, "attached_files": true, "open_and_recently_viewed_files": true, "ide_opened_file": true, "ide_selection": true,
	"reminder": true, "reminders": true, "workspace_info": true, "reminderinstructions": true, "todo_list": true, "apps_instructions": true,
	"user_shell_command": true, "subagent_notification": true, "hook_context": true, "sql_tables": true, "agent_skills": true, "available_skills": true,
}

// typedTags wrap text that a person typed: the tags are removed, the text stays.
var typedTags = map[string]bool{"user_query": true, "command-args": true, "bash-input": true, "userrequest": true, "user_request": true, "task": true,
	"issue": true, "pr_description": true, "issue_description": true, "feedback": true, "answer": true, "user_message": true, "prompt": true}

// withoutTags removes the elements of harnesses from a text, and the tags around typed
// text. Other markup stays.
func withoutTags(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	var b strings.Builder
	for {
		start, name := nextTag(text)
		if start < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:start])
		text = text[start:]
		inner, rest, ok := element(text, name)
		if !ok { // not closed: plain text
			b.WriteByte('<')
			text = text[1:]
			continue
		}
		if typedTags[strings.ToLower(name)] {
			b.WriteString(inner)
		}
		text = rest
	}
}

// element splits off the element at the beginning of a text.
func element(text, name string) (inner, rest string, ok bool) {
	open := strings.IndexByte(text, '>')
	end := strings.Index(text, "</"+name+">")
	if open < 0 || end <= open {
		return "", "", false
	}
	return text[open+1 : end], text[end+len(name)+3:], true
}

// nextTag returns the position of the next known element, -1 if there is none.
func nextTag(text string) (start int, name string) { return tagOf(text, harnessTags, typedTags) }

// tagOf returns the position of the next element with a name of one of the tables, -1 if there
// is none.
func tagOf(text string, tables ...map[string]bool) (start int, name string) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '<')
		if i < 0 {
			return -1, ""
		}
		start = from + i
		name = tagName(text[start+1:])
		low := strings.ToLower(name)
		if slices.ContainsFunc(tables, func(t map[string]bool) bool { return t[low] }) {
			return start, name
		}
		from = start + 1
	}
}

// tagName returns the name at the beginning of the text after a "<".
func tagName(s string) string {
	end := 0
	for end < len(s) && end < 40 && (prose.IsLetter(rune(s[end])) || s[end] == '-' || s[end] == '_') {
		end++
	}
	if end == len(s) || s[end] != '>' && s[end] != ' ' {
		return ""
	}
	return s[:end]
}

// reminderTags are elements that harnesses append to the results of tools. A page or a ticket can
// have such an element too. A summary quotes neither.
var reminderTags = []string{"system-reminder", "system_reminder"}

// withoutReminders removes the reminders of harnesses from the result of a tool.
func withoutReminders(text string) string {
	for _, tag := range reminderTags {
		var out strings.Builder
		for {
			before, rest, ok := strings.Cut(text, "<"+tag+">")
			if !ok {
				break
			}
			_, after, closed := strings.Cut(rest, "</"+tag+">")
			if !closed {
				break
			}
			out.WriteString(before)
			text = after
		}
		out.WriteString(text)
		text = out.String()
	}
	return text
}

// resultText returns the result of a tool without the texts of this project and of harnesses.
func resultText(p *message.Part) string { return withoutReminders(withoutContent(withoutOurs(p.Text))) }
