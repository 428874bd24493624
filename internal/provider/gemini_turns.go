package provider

import (
	"fmt"
	"slices"
)

// skipSignature is the value that a client may send as the signature of a call
// that the model did not make.
const skipSignature = "skip_thought_signature_validator"

const (
	geminiCallOrder     = "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
	geminiResponseOrder = "Please ensure that function response turn comes immediately after a function call turn."
	geminiParity        = "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
)

// geminiTurns checks the roles, and the positions of calls and responses.
func geminiTurns(r *report, contents []content) {
	if contents[0].role != "user" {
		r.add("first_role", "", "contents[0]", "Please ensure that multiturn requests alternate between user and model, and begin with a user turn.")
	}
	if contents[len(contents)-1].role == "model" {
		r.add("last_role", "", "contents", "Please ensure that multiturn requests end with a user role or a function response.")
	}
	for i, c := range contents {
		path := fmt.Sprintf("contents[%d]", i)
		if n := c.count("functionCall"); n > 0 {
			if c.role == "model" && i > 0 && contents[i-1].role == "model" {
				r.add("call_order", geminiOwnerOf(c), path, geminiCallOrder)
			}
			geminiAnswered(r, path, c, contents[i+1:])
		}
		if c.count("functionResponse") > 0 && (i == 0 || contents[i-1].count("functionCall") == 0) {
			r.add("tool_without_call", geminiOwnerOf(c), path, geminiResponseOrder)
		}
	}
}

func geminiOwnerOf(c content) string {
	for _, p := range c.parts {
		if k := partOwner(p); k != "" {
			return k
		}
	}
	return c.role
}

// geminiAnswered checks that the next content has one response for each call of
// a turn, with the same function name and id, in any order.
func geminiAnswered(r *report, path string, c content, rest []content) {
	owner := geminiOwnerOf(c)
	if len(rest) == 0 || rest[0].count("functionResponse") == 0 {
		r.add("call_without_result", owner, path, geminiParity)
		return
	}
	calls, answers := functions(c, "functionCall"), functions(rest[0], "functionResponse")
	if len(calls) != len(answers) {
		r.add("parity", owner, path, geminiParity)
		return
	}
	for _, a := range answers {
		k := slices.Index(calls, a)
		if k < 0 {
			r.add("tool_without_call", a, path, geminiParity)
			continue
		}
		calls = slices.Delete(calls, k, k+1)
	}
}

// functions returns the names and ids of the calls or responses in a content.
func functions(c content, field string) []string {
	var out []string
	for _, p := range c.parts {
		if p[field] != nil {
			out = append(out, partOwner(p))
		}
	}
	return out
}

// issueGemini records each signature with its part, and the parts without a signature.
func issueGemini(j *Judge, body object) {
	for _, c := range contentsOf(camel(body)) {
		if c.role != "model" {
			continue
		}
		for _, p := range c.parts {
			sig := str(p, "thoughtSignature")
			said := canonical(without(p, "thoughtSignature"))
			if sig != "" {
				j.seal(standard(sig), said)
				j.lead(said, []string{standard(sig)})
			} else {
				j.lead(said, nil)
			}
		}
	}
}

// geminiSigned checks that each signature is at the part for which it was issued, and
// that each signed part has its signature.
func geminiSigned(j *Judge, r *report, contents []content) {
	for i, c := range contents {
		for k, p := range c.parts {
			path := fmt.Sprintf("contents[%d].parts[%d]", i, k)
			sig := str(p, "thoughtSignature")
			said := canonical(without(p, "thoughtSignature"))
			switch {
			case sig == skipSignature:
			case sig != "" && !j.isGenuine(standard(sig), said):
				r.add("sealed", sig, path, "Corrupted thought signature.")
			case sig == "" && c.role == "model" && len(j.ledBy(said)) > 0:
				r.add("signature_lost", partOwner(p), path, missingSignature(p, k))
			}
		}
	}
}

// geminiCurrent checks that the first call of each step since the user's last
// message has a signature.
func geminiCurrent(r *report, contents []content) {
	start := 0
	for i, c := range contents {
		if c.role == "user" && c.count("functionResponse") == 0 {
			start = i
		}
	}
	for i, c := range contents[start:] {
		for k, p := range c.parts {
			if p["functionCall"] == nil || c.role != "model" {
				continue
			}
			if str(p, "thoughtSignature") == "" {
				r.add("signature_missing", partOwner(p), fmt.Sprintf("contents[%d].parts[%d]", start+i, k), missingSignature(p, k))
			}
			break
		}
	}
}

func missingSignature(p object, k int) string {
	f, _ := p["functionCall"].(object)
	return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:%s`, position %d. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.", str(f, "name"), k+1)
}

func geminiEmptyResults(r *report, contents []content) {
	for i, c := range contents {
		for k, p := range c.parts {
			f, ok := p["functionResponse"].(object)
			if !ok {
				continue
			}
			if out, _ := f["response"].(object); len(out) == 0 || len(out) == 1 && (out["output"] == "" || out["result"] == "") {
				r.add("empty_result", partOwner(p), fmt.Sprintf("contents[%d].parts[%d]", i, k), "* function_response.response: must not be empty.")
			}
		}
	}
}
