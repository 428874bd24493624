package provider

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

var geminiRules = rules{judge: judgeGemini, issue: issueGemini, parse: "Invalid JSON payload received. Unexpected end of string."}

var geminiPhrases = phrases{
	unknown: func(path, name string) string {
		return fmt.Sprintf("Invalid JSON payload received. Unknown name \"%s\" at '%s': Cannot find field.", name, path)
	},
	missing: func(path, name string) string {
		if name == "name" {
			return fmt.Sprintf("* GenerateContentRequest.%s.%s: Name cannot be empty.", path, name)
		}
		return fmt.Sprintf("* GenerateContentRequest.%s.%s: required field is not set.", path, name)
	},
	wrong: func(path, name string, want kind, got any) string {
		kind := "TYPE_STRING"
		switch {
		case want&dict != 0:
			kind = "type.googleapis.com/google.protobuf.Struct"
		case want&flag != 0:
			kind = "TYPE_BOOL"
		}
		return fmt.Sprintf("Invalid value at '%s' (%s), %s", dotted(path, name), kind, canonical(got))
	},
}

// The fields have their JSON names. The API also accepts them in snake case, which
// camel converts.
var (
	geminiContent = shape{may("role", text), may("parts", list)}
	geminiData    = []string{"text", "inlineData", "functionCall", "functionResponse", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse"}
	geminiPart    = shape{may("text", text), may("inlineData", dict), may("functionCall", dict), may("functionResponse", dict), may("fileData", dict),
		may("executableCode", dict), may("codeExecutionResult", dict), may("toolCall", dict), may("toolResponse", dict), may("thought", flag),
		may("thoughtSignature", text), may("videoMetadata", dict), may("partMetadata", dict), may("mediaResolution", dict)}
	geminiCall     = shape{may("id", text), must("name", text), may("args", dict)}
	geminiResponse = shape{may("id", text), must("name", text), must("response", dict), may("willContinue", flag), may("scheduling", text), may("parts", list)}
)

// camel returns an object with the JSON names of its members, from either
// spelling.
func camel(o object) object {
	out := make(object, len(o))
	for k, v := range o {
		var b strings.Builder
		up := false
		for _, c := range k {
			switch {
			case c == '_':
				up = true
			case up:
				b.WriteRune(unicode.ToUpper(c))
				up = false
			default:
				b.WriteRune(c)
			}
		}
		out[b.String()] = v
	}
	return out
}

// A content is an element of the request's contents: the parts of one role.
type content struct {
	role  string
	parts []object
}

// count returns the number of parts that hold a field.
func (c content) count(field string) (n int) {
	for _, p := range c.parts {
		if p[field] != nil {
			n++
		}
	}
	return n
}

func contentsOf(body object) []content {
	var out []content
	for _, o := range objects(body["contents"]) {
		o = camel(o)
		c := content{role: str(o, "role")}
		if c.role == "" {
			c.role = "user"
		}
		for _, p := range objects(o["parts"]) {
			c.parts = append(c.parts, camel(p))
		}
		out = append(out, c)
	}
	return out
}

func judgeGemini(j *Judge, r *report, body object) {
	body = camel(body)
	if s, ok := body["systemInstruction"]; ok {
		geminiSystem(r, s)
	}
	if l, _ := body["contents"].([]any); len(l) == 0 {
		r.add("no_messages", "", "contents", "* GenerateContentRequest.contents: contents is not specified")
		return
	}
	for i, o := range objects(body["contents"]) {
		geminiContentRules(r, fmt.Sprintf("contents[%d]", i), camel(o))
	}
	contents := contentsOf(body)
	geminiTurns(r, contents)
	geminiSigned(j, r, contents)
	geminiCurrent(r, contents)
	if r.dialect = j.Dialects; r.dialect {
		geminiEmptyResults(r, contents)
	}
}

func geminiSystem(r *report, v any) {
	o, ok := v.(object)
	if !ok {
		r.add("wrong_type", ".systemInstruction", "system_instruction", fmt.Sprintf("Invalid value at 'system_instruction' (type.googleapis.com/google.ai.generativelanguage.v1beta.Content), %s", canonical(v)))
		return
	}
	for i, p := range objects(o["parts"]) {
		if camel(p)["text"] == nil {
			r.add("part_type", "system", fmt.Sprintf("system_instruction.parts[%d]", i), "* GenerateContentRequest.system_instruction: only text parts are supported.")
		}
	}
}

func geminiContentRules(r *report, path string, o object) {
	r.fits(geminiPhrases, geminiContent, o, geminiOwner(o), path)
	if role := str(o, "role"); role != "" && role != "user" && role != "model" && role != "function" {
		r.add("role", role, path+".role", "Please use a valid role: user, model.")
	}
	parts := objects(o["parts"])
	if len(parts) == 0 {
		r.add("no_content", str(o, "role"), path+".parts", fmt.Sprintf("* GenerateContentRequest.%s.parts: contents.parts must not be empty.", path))
	}
	for k, p := range parts {
		geminiPartRules(r, fmt.Sprintf("%s.parts[%d]", path, k), camel(p))
	}
}

// geminiOwner returns a key that distinguishes a content from others: the key of its
// first call or response, else its role.
func geminiOwner(o object) string {
	for _, p := range objects(o["parts"]) {
		if k := partOwner(camel(p)); k != "" {
			return k
		}
	}
	return str(o, "role")
}

// partOwner returns the key of a call or a response: the function's name and
// the id. It returns "" for other parts.
func partOwner(p object) string {
	for _, field := range []string{"functionCall", "functionResponse"} {
		if f, ok := p[field].(object); ok {
			return str(f, "name") + "/" + str(f, "id")
		}
	}
	return ""
}

func geminiPartRules(r *report, path string, p object) {
	owner := partOwner(p)
	r.fits(geminiPhrases, geminiPart, p, owner, path)
	data := slices.DeleteFunc(slices.Clone(geminiData), func(f string) bool { return p[f] == nil })
	switch {
	case len(data) == 0 && str(p, "thoughtSignature") == "":
		r.add("no_data", owner, path+".data", fmt.Sprintf("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field", path))
		return
	case len(data) > 1:
		r.add("two_data", owner, path, fmt.Sprintf("Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", path, data[1]))
	}
	if s, ok := p["text"].(string); ok && s == "" && str(p, "thoughtSignature") == "" {
		r.add("empty_text", owner, path, "Unable to submit request because it has an empty text parameter. Add a value to the parameter and try again.")
	}
	if sig := str(p, "thoughtSignature"); sig != "" && sig != skipSignature {
		if _, err := base64.RawStdEncoding.DecodeString(standard(sig)); err != nil {
			r.add("sealed", sig, path, fmt.Sprintf("Invalid value at '%s.thought_signature' (TYPE_BYTES), Base64 decoding failed for %q", path, sig))
		}
	}
	if f, ok := p["functionCall"].(object); ok {
		r.fits(geminiPhrases, geminiCall, f, owner, path+".function_call")
	}
	if f, ok := p["functionResponse"].(object); ok {
		r.fits(geminiPhrases, geminiResponse, f, owner, path+".function_response")
		for k, in := range objects(f["parts"]) {
			geminiResponsePart(r, owner, fmt.Sprintf("%s.function_response.parts[%d]", path, k), camel(in))
		}
	}
	if blob, ok := p["inlineData"].(object); ok {
		geminiBlob(r, owner, path+".inline_data", camel(blob))
	}
}

// responseTypes lists the MIME types of data in a function response.
var responseTypes = []string{"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}

// geminiResponsePart checks a part of a function response: it must have data or
// a file, never a text.
func geminiResponsePart(r *report, owner, path string, p object) {
	r.fits(geminiPhrases, shape{may("inlineData", dict), may("fileData", dict), may("videoMetadata", dict)}, p, owner, path)
	blob, inline := p["inlineData"].(object)
	if !inline && p["fileData"] == nil {
		r.add("no_data", owner, path+".data", fmt.Sprintf("* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field", path))
		return
	}
	if !inline {
		return
	}
	blob = camel(blob)
	geminiBlob(r, owner, path+".inline_data", blob)
	if mime := str(blob, "mimeType"); !slices.Contains(responseTypes, mime) {
		r.add("response_type", owner+"."+mime, path, "Unsupported MIME type in function response: "+mime)
	}
}

// standard converts base64 to the standard alphabet. Google accepts both
// alphabets, with and without padding
// (https://protobuf.dev/programming-guides/json).
func standard(code string) string {
	return strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(code), "=")
}

func geminiBlob(r *report, owner, path string, blob object) {
	if !r.fits(geminiPhrases, shape{must("mimeType", text), must("data", text), may("displayName", text)}, blob, owner, path) {
		return
	}
	if _, err := base64.RawStdEncoding.DecodeString(standard(str(blob, "data"))); err != nil || str(blob, "data") == "" {
		r.add("blob", owner, path, fmt.Sprintf("Invalid value at '%s.data' (TYPE_BYTES), Base64 decoding failed", path))
	}
}
