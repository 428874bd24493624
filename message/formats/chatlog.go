package formats

import (
	"github.com/agentcompact/compact/message/openai"
)

// The formats in this file hold messages of chat completions in a list.

func isMiniSWEAgent(s *source) bool {
	return s.doc.has("messages") && s.doc.has("trajectory_format")
}

func isTauBench(s *source) bool { return s.doc.is("traj", '[') }

// readChatAt returns a reader for documents that hold their messages in the member list.
// name is the name of the format.
func readChatAt(name, list string) func(*source) (*File, error) {
	return func(s *source) (*File, error) {
		s.elements(s.doc.by[list])
		c := s.composer()
		c.text(`{"messages":[`)
		for i, u := range s.units {
			c.message(i, u.at)
		}
		c.text("]}")
		return newLog(name, openai.Wire, c, s.list, made(openai.Wire, "messages", ","))
	}
}

func isSWEAgent(s *source) bool { return s.doc.is("trajectory", '[') && s.doc.is("history", '[') }

// readSWEAgent reads the history of SWE-agent, in which a result names its
// calls in a list.
func readSWEAgent(s *source) (*File, error) {
	s.elements(s.doc.by["history"])
	c := s.composer()
	c.text(`{"messages":[`)
	for i, o := range s.at {
		ids := o.list("tool_call_ids")
		if o.text("role") != "tool" || len(ids) == 0 || o.has("tool_call_id") {
			c.message(i, o.at)
			continue
		}
		c.item(i)
		c.text(`{"role":"tool","tool_call_id":`)
		c.copy(i, ids[0])
		if o.has("content") {
			c.text(`,"content":`)
			c.copy(i, o.by["content"])
		}
		c.text("}")
	}
	c.text("]}")
	return newLog("swe-agent", openai.Wire, c, s.list, made(openai.Wire, "messages", ","))
}

func isTau2Bench(s *source) bool { return s.doc.in("simulation").is("messages", '[') }

// readTau2Bench reads a simulation, which has a shorter form of calls. It skips
// the tool calls of the simulated user, which the model never saw.
func readTau2Bench(s *source) (*File, error) {
	s.elements(s.doc.in("simulation").by["messages"])
	c := s.composer()
	c.text(`{"messages":[`)
	for i, o := range s.at {
		role := o.text("role")
		if role == "" || o.text("requestor") == "user" || role == "user" && !o.has("content") {
			continue
		}
		c.item(i)
		c.text(`{"role":"` + role + `"`)
		c.members(i, o, "content", "content")
		switch role {
		case "tool":
			c.members(i, o, "id", "tool_call_id")
		case "assistant":
			c.calls(i, o.list("tool_calls"), call{"id", "name", "arguments"})
		}
		c.text("}")
	}
	c.text("]}")
	return newLog("tau2-bench", openai.Wire, c, s.list, made(openai.Wire, "messages", ","))
}
