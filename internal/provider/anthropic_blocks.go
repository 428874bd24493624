package provider

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// blockShapes lists the blocks that are checked in full. Of the blocks of server-side
// tools, only the ids and the encrypted_content of search results are checked.
var blockShapes = map[string]shape{
	"text":              {must("type", text), must("text", text), may("cache_control", dict|null), may("citations", list|null)},
	"image":             {must("type", text), must("source", dict), may("cache_control", dict|null)},
	"document":          {must("type", text), must("source", dict), may("cache_control", dict|null), may("title", text|null), may("context", text|null), may("citations", dict|null)},
	"tool_use":          {must("type", text), must("id", text), must("name", text), must("input", dict), may("cache_control", dict|null), may("caller", dict)},
	"tool_result":       {must("type", text), must("tool_use_id", text), may("content", text|list), may("is_error", flag), may("cache_control", dict|null)},
	"thinking":          {must("type", text), must("thinking", text), must("signature", text)},
	"redacted_thinking": {must("type", text), must("data", text)},
	"compaction":        {must("type", text), may("content", text|null), may("encrypted_content", text|null), may("cache_control", dict|null)},
}

// blocksOfRole lists the blocks that a message of a role, or a tool_result, may contain.
var blocksOfRole = map[string][]string{
	"user":        {"text", "image", "document", "tool_result"},
	"assistant":   {"text", "tool_use", "thinking", "redacted_thinking", "compaction", "image", "document"},
	"system":      {"text"},
	"tool_result": {"text", "image", "document"},
}

var toolUseID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// toolName is the expression that error texts show for the name of a tool. The code checks names
// with toolUseID and mostToolName instead, because compiling this expression takes a tenth of the
// time in which a test's process starts.
const (
	toolName     = `^[a-zA-Z0-9_-]{1,128}$`
	mostToolName = 128
)

// uncheckedBlock reports whether the fields of a block are not checked. Such blocks are
// blocks of tools that the provider runs, uploads and search results.
func uncheckedBlock(kind string) bool {
	return kind == "server_tool_use" || kind == "mcp_tool_use" || strings.HasSuffix(kind, "_tool_result") ||
		kind == "container_upload" || kind == "search_result"
}

func anthropicBlock(r *report, role string, b block) {
	kind, path := b.kind(), b.path()
	if uncheckedBlock(kind) {
		return
	}
	if !slices.Contains(blocksOfRole[role], kind) {
		r.add("block_type", b.owner()+"."+kind, path, fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", path, kind, strings.Join(blocksOfRole[role], "', '")))
		return
	}
	if !r.fits(anthropicPhrases, blockShapes[kind], b.object, b.owner(), path+"."+kind) {
		return
	}
	switch kind {
	case "text":
		anthropicText(r, role, path, str(b.object, "text"), b.object)
	case "tool_use":
		anthropicNames(r, b)
	case "tool_result":
		for k, c := range objects(b.object["content"]) {
			anthropicResultPart(r, b.owner(), fmt.Sprintf("%s.tool_result.content.%d", path, k), c)
		}
	}
}

func anthropicText(r *report, owner, path, s string, o object) {
	switch {
	case s == "" && o["cache_control"] != nil:
		r.add("empty_text", owner, path, "cache_control cannot be set for empty text blocks")
	case s == "":
		r.add("empty_text", owner, path, "messages: text content blocks must be non-empty")
	case blank(s):
		r.add("empty_text", owner, path, "messages: text content blocks must contain non-whitespace text")
	}
}

func anthropicResultPart(r *report, owner, path string, c object) {
	kind := str(c, "type")
	if kind == "search_result" || kind == "tool_reference" {
		return
	}
	if !slices.Contains(blocksOfRole["tool_result"], kind) {
		r.add("block_type", owner+"."+kind, path, fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags: '%s'", path, kind, strings.Join(blocksOfRole["tool_result"], "', '")))
		return
	}
	if r.fits(anthropicPhrases, blockShapes[kind], c, owner, path+"."+kind) && kind == "text" {
		anthropicText(r, owner, path, str(c, "text"), c)
	}
}

func anthropicNames(r *report, b block) {
	path := b.path() + ".tool_use"
	if id := str(b.object, "id"); !toolUseID.MatchString(id) {
		r.add("call_id", id, path, fmt.Sprintf("%s.id: String should match pattern '%s'", path, toolUseID))
	}
	if name := str(b.object, "name"); !toolUseID.MatchString(name) || len(name) > mostToolName {
		r.add("function_name", b.owner(), path, fmt.Sprintf("%s.name: String should match pattern '%s'", path, toolName))
	}
}

// maxBreakpoints is the maximum number of cache marks in a request.
const maxBreakpoints = 4

// anthropicBreakpoints checks the cache marks: their number, their lifetimes, and that
// marks with longer lifetimes come first.
func anthropicBreakpoints(r *report, body object) {
	all := breakpoints(body)
	if n := len(all); n > maxBreakpoints {
		r.add("cache_control", "", "cache_control", fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxBreakpoints, n))
	}
	short := false
	for i, m := range all {
		o, _ := m.(object)
		ttl, given := o["ttl"].(string)
		switch {
		case str(o, "type") != "ephemeral":
			r.add("cache_type", fmt.Sprint(i), "cache_control", "cache_control.type: Input tag does not match any of the expected tags: 'ephemeral'")
		case o["ttl"] != nil && ttl != "5m" && ttl != "1h":
			r.add("cache_ttl", fmt.Sprint(i), "cache_control", "cache_control.ephemeral.ttl: Input should be '5m' or '1h'")
		case given && ttl == "1h" && short:
			r.add("cache_order", fmt.Sprint(i), "cache_control", "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.")
		}
		short = short || ttl != "1h"
	}
}

// breakpoints returns the values of cache_control in the order in which the
// provider reads the blocks. The value of the body itself is last.
func breakpoints(body object) (all []any) {
	add := func(o object) {
		if m := o["cache_control"]; m != nil {
			all = append(all, m)
		}
	}
	var each func(v any)
	each = func(v any) {
		for _, o := range objects(v) {
			each(o["content"])
			if source, ok := o["source"].(object); ok { // of a document that is made of blocks
				each(source["content"])
			}
			add(o)
		}
	}
	each(body["tools"])
	each(body["system"])
	for _, m := range objects(body["messages"]) {
		each(m["content"])
	}
	add(body)
	return all
}

func anthropicEmptyResults(r *report, turns []turn) {
	for _, t := range turns {
		for _, b := range t.blocks {
			if b.kind() == "tool_result" && emptyOutput(b.object["content"]) {
				r.add("empty_result", b.owner(), b.path(), fmt.Sprintf("%s.tool_result.content: must not be empty", b.path()))
			}
		}
	}
}
