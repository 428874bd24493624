package strategy

import "github.com/agentcompact/compact/strategy/internal/fileops"

// readLines returns lines that name the files that were only read, or only ran as scripts,
// grouped by folder.
func (h *History) readLines(section int) []Line {
	type folder struct {
		dir         string
		did         string
		names       []string
		paths       []string
		first, last int
	}
	at := map[string]int{}
	var folders []folder
	for _, f := range h.fileStates() {
		if f.Op >= fileops.Edited || f.Last == 0 {
			continue
		}
		d, did := folderOf(f.Path), "looked at "
		if f.Op == fileops.Ran {
			did = "ran "
		}
		i, ok := at[did+d]
		if !ok || len(folders[i].names) == readTogether {
			i = len(folders)
			at[did+d] = i
			folders = append(folders, folder{dir: d, did: did, first: f.Last})
		}
		g := &folders[i]
		g.names, g.paths = append(g.names, fileName(f.Path)), append(g.paths, f.Path)
		g.first, g.last = min(g.first, f.Last), max(g.last, f.Last)
	}
	var out []Line
	for _, g := range folders {
		where := "in the working folder: "
		if g.dir != "" {
			where = "in `" + g.dir + "/`: "
		}
		if len(g.names) == 1 {
			out = append(out, Line{Section: section, Text: g.did + "`" + g.paths[0] + "` " + span(g.first, g.last), Value: readValue, Order: 40_000 + g.first})
			continue
		}
		out = append(out, Line{Section: section, Text: g.did + "these " + where + pairs(g.names) + " " + span(g.first, g.last), Value: readValue, Order: 40_000 + g.first, Names: g.paths})
	}
	return out
}

const (
	readTogether = 10  // files of a folder on one line
	readValue    = 0.2 // value of a line about files that were read
)
