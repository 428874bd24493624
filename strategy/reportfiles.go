package strategy

import (
	"path"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/ident"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Limits of the list of the files that a report names. A list of a few files is in the
// sentences that are quoted, and a list of very many is no result.
const (
	leastReportFiles = 6
	mostReportFiles  = 40
)

// reportFiles returns the files that a report names, grouped by folder, "" for a few. A budget
// that cuts the sentences of a long report keeps this line.
func reportFiles(report string) (list string, files []string) {
	var folders []string
	identifiers(report, func(k ident.Kind, s string) {
		if k == ident.Path && fileops.IsPath(s) && path.Ext(s) != "" && !strings.Contains(s, "://") {
			files = prose.AppendNew(files, s)
		}
	})
	if len(files) < leastReportFiles || len(files) > mostReportFiles {
		return "", nil
	}
	in := map[string][]string{}
	for _, f := range files {
		d := folderOf(f)
		folders = prose.AppendNew(folders, d)
		in[d] = append(in[d], f[strings.LastIndexAny(f, `/\`)+1:])
	}
	var out []string
	for _, d := range folders {
		names := strings.Join(in[d], ", ")
		if d != "" {
			names = "in `" + d + "/` " + names
		}
		out = append(out, names)
	}
	return strings.Join(out, "; "), files
}
