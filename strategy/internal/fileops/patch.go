package fileops

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// maxOps is the maximum number of file operations that are read from one patch.
const maxOps = 500

// OfPatch reads a unified diff or an apply_patch envelope.
func OfPatch(patch string) []Op {
	var r patchReader
	for line := range strings.Lines(patch) {
		if len(r.out) > maxOps {
			break
		}
		if line = strings.TrimRight(line, "\r\n"); r.header(line) {
			r.headed, r.fence = false, ""
		} else {
			r.body(line)
		}
	}
	return r.out
}

// patchReader reads a patch line by line, in the form of apply_patch or of diff.
type patchReader struct {
	out        []Op
	old, moved string      // the file's old name from an earlier line
	headed     bool        // the last named file has new headings
	fence      prose.Fence // the open block of code in a text
}

func (r *patchReader) last() *Op {
	if len(r.out) == 0 {
		return nil
	}
	return &r.out[len(r.out)-1]
}

// header processes a line that names a file, and reports whether it is one.
func (r *patchReader) header(line string) bool {
	switch {
	case cutTo(&line, "*** Add File: "):
		r.out = append(r.out, Op{Path: line, Op: Created})
	case cutTo(&line, "*** Update File: "):
		r.out = append(r.out, Op{Path: line, Op: Edited})
	case cutTo(&line, "*** Delete File: "):
		r.out = append(r.out, Op{Path: line, Op: Deleted})
	case cutTo(&line, "*** Move to: "):
		if f := r.last(); f != nil {
			f.From, f.Path, f.Op = f.Path, line, Renamed
		}
	case cutTo(&line, "rename from "):
		r.moved = line
	case r.moved != "" && cutTo(&line, "rename to "):
		r.out = append(r.out, Op{Path: line, From: r.moved, Op: Renamed})
		r.moved = ""
	case cutTo(&line, "--- "):
		r.old = diffPath(line)
	case r.old != "" && cutTo(&line, "+++ "):
		if f := r.last(); f == nil || f.Op != Renamed || f.Path != diffPath(line) {
			r.out = append(r.out, diffOp(r.old, diffPath(line)))
		}
		r.old = ""
	default:
		return false
	}
	return true
}

// body processes a line about the last named file.
func (r *patchReader) body(line string) {
	f := r.last()
	if f == nil {
		return
	}
	switch {
	case strings.HasPrefix(line, " "):
		r.fence.Takes(line[1:])
	case strings.HasPrefix(line, "@@"):
		r.fence = ""
		_, context, _ := strings.Cut(line[2:], "@@")
		if context == "" {
			context = line[2:]
		}
		f.add(declaration(strings.TrimSpace(context)))
	case strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-"):
		f.add(declaration(strings.TrimSpace(line[1:])))
		if line[0] == '+' {
			r.added(f, line[1:])
			if f.Op == Edited && len(f.Added) == 0 {
				f.Added = NewLine("", line[1:])
			}
		}
	}
}

func cutTo(line *string, prefix string) bool {
	rest, ok := strings.CutPrefix(*line, prefix)
	if ok {
		*line = rest
	}
	return ok
}

// diffPath returns the path in a header of a unified diff.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(s, "b/")
}

func diffOp(from, to string) Op {
	switch {
	case from == "/dev/null":
		return Op{Path: to, Op: Created}
	case to == "/dev/null":
		return Op{Path: from, Op: Deleted}
	}
	return Op{Path: to, Op: Edited}
}
