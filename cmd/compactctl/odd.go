package main

import (
	"fmt"
	"slices"

	"github.com/agentcompact/compact/message"
)

// knownRoles are the roles of the wires and of agents' logs.
var knownRoles = []message.Role{message.RoleSystem, message.RoleDeveloper, message.RoleUser, message.RoleAssistant, message.RoleTool, "function"}

// sayOdd warns about messages that a provider would refuse: messages of an unknown
// role or without content, and tool results without a call. Such messages are nevertheless counted and
// kept.
func (a *app) sayOdd(t *transcript) {
	var roles, orphans, empty []int
	called := map[string]bool{}
	for i := range t.msgs {
		m := &t.msgs[i]
		if !slices.Contains(knownRoles, m.Role) {
			roles = append(roles, i)
		}
		if len(m.Parts) == 0 {
			empty = append(empty, i)
		}
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case message.KindToolCall:
				called[p.CallID] = true
			case message.KindToolResult:
				if p.CallID != "" && !called[p.CallID] && (len(orphans) == 0 || orphans[len(orphans)-1] != i) {
					orphans = append(orphans, i)
				}
			}
		}
	}
	if len(roles) > 0 {
		a.complain(t.name, fmt.Sprintf("warning: %s of an unknown role; the first is message %d (%q)", things(len(roles), "message"), roles[0]+1, t.msgs[roles[0]].Role))
	}
	if len(empty) > 0 {
		a.complain(t.name, fmt.Sprintf("warning: %s without content; the first is message %d", things(len(empty), "message"), empty[0]+1))
	}
	if len(orphans) > 0 {
		a.complain(t.name, fmt.Sprintf("warning: %s without a call; the first is message %d", things(len(orphans), "tool result"), orphans[0]+1))
	}
}
