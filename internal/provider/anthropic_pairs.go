package provider

import (
	"fmt"
	"slices"
	"strings"
)

// anthropicPairs checks calls and results: the results of a message's calls
// must come first in the next message, and nowhere else.
func anthropicPairs(r *report, msgs []object) {
	seen := map[string]bool{}
	var open []string
	for i, m := range msgs {
		blocks := blocksOf(i, m)
		open = anthropicResults(r, i, open, blocks)
		anthropicMissing(r, i-1, open)
		open = nil
		for _, b := range blocks {
			if id := b.owner(); b.kind() == "tool_use" {
				if seen[id] {
					r.add("call_twice", id, b.path(), fmt.Sprintf("%s: `tool_use` ids must be unique", b.path()))
				}
				seen[id] = true
				open = append(open, id)
			}
		}
	}
	anthropicMissing(r, len(msgs)-1, open)
}

// anthropicResults removes the calls that a message answers from the open calls, and
// returns the calls that are still open.
func anthropicResults(r *report, i int, open []string, blocks []block) []string {
	asked := slices.Clone(open)
	var other *block
	for k, b := range blocks {
		if b.kind() != "tool_result" {
			if other == nil {
				other = &blocks[k]
			}
			continue
		}
		id := b.owner()
		at := slices.Index(open, id)
		switch {
		case at >= 0 && other != nil:
			r.add("result_not_first", id, b.path(), missingResults(i-1, []string{id}))
			open = slices.Delete(open, at, at+1)
		case at >= 0:
			open = slices.Delete(open, at, at+1)
		case slices.Contains(asked, id):
			r.add("result_twice", id, b.path(), fmt.Sprintf("%s: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", b.path(), id))
		default:
			r.add("tool_without_call", id, b.path(), fmt.Sprintf("%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", b.path(), id))
		}
	}
	return open
}

func anthropicMissing(r *report, i int, open []string) {
	for _, id := range open {
		r.add("call_without_result", id, fmt.Sprintf("messages.%d", i), missingResults(i, open))
	}
}

func missingResults(i int, ids []string) string {
	return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", i, strings.Join(ids, ", "))
}

// foundPage is the content with which the text of a page was issued. The seal depends
// only on that text, and not on the text around it.
const foundPage = "page"

// webResults returns the pages in the result block of a provider's web search.
func webResults(b block) (pages []object) {
	if b.kind() != "web_search_tool_result" {
		return nil
	}
	for _, found := range objects(b.object["content"]) {
		if str(found, "encrypted_content") != "" {
			pages = append(pages, found)
		}
	}
	return pages
}

// anthropicSearched checks that a search has the same pages as in the issued output.
func anthropicSearched(j *Judge, r *report, turns []turn) {
	for _, t := range turns {
		for _, b := range t.blocks {
			for k, found := range webResults(b) {
				if !j.isGenuine(str(found, "encrypted_content"), foundPage) {
					path := fmt.Sprintf("%s.web_search_tool_result.content.%d", b.path(), k)
					r.add("sealed", str(found, "encrypted_content"), path, path+": Invalid `encrypted_content` in `search_result` block")
				}
			}
		}
	}
}
