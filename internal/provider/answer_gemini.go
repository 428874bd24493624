package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// geminiParts returns the parts of the answer. It signs the first call of the
// step, like thinking models.
func (s *answerData) geminiParts() []any {
	out := []any{}
	if s.Reasoning != "" {
		out = append(out, object{"text": s.Reasoning, "thought": true})
	}
	if s.Text != "" {
		out = append(out, object{"text": s.Text})
	}
	for k, c := range s.Calls {
		call := object{"name": c.Name, "args": c.args()}
		if c.ID != "" {
			call["id"] = c.ID
		}
		part := object{"functionCall": call}
		if k == 0 {
			part["thoughtSignature"] = s.signature
		}
		out = append(out, part)
	}
	return out
}

func (s *answerData) geminiUsage(output int) object {
	u := object{"promptTokenCount": s.prompt, "candidatesTokenCount": output, "totalTokenCount": s.prompt + output}
	if s.Cached > 0 {
		u["cachedContentTokenCount"] = s.Cached
	}
	return u
}

func (s *answerData) geminiResponse(a asked, parts []any, finish string, output int) object {
	c := object{"content": object{"parts": parts, "role": "model"}, "index": 0}
	if finish != "" {
		c["finishReason"] = finish
	}
	return object{"candidates": []any{c}, "usageMetadata": s.geminiUsage(output), "modelVersion": a.model, "responseId": fmt.Sprintf("r%d", s.serial)}
}

func answerGemini(w http.ResponseWriter, a asked, s answerData) {
	parts := s.geminiParts()
	if !a.stream {
		writeJSON(w, http.StatusOK, s.geminiResponse(a, parts, "STOP", s.output()))
		return
	}
	var chunks []object
	for i, p := range parts {
		finish := ""
		if i == len(parts)-1 {
			finish = "STOP"
		}
		chunks = append(chunks, s.geminiResponse(a, []any{p}, finish, s.output()*(i+1)/len(parts)))
	}
	if a.sse {
		out := newStream(w)
		for _, c := range chunks {
			out.event("", c)
		}
		return
	}
	w.Header().Set("Content-Type", "application/json")
	b, err := json.Marshal(chunks)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(b)
}
