package fileops

import (
	"path"
	"slices"
	"strings"
)

// cmdlets are the commands of PowerShell that work on files, in lower case.
var cmdlets = map[string]Kind{
	"get-content": Read, "set-content": Created, "add-content": Edited, "clear-content": Edited, "out-file": Created, "tee-object": Created,
	"new-item": Created, "remove-item": Deleted, "move-item": Renamed, "rename-item": Renamed, "copy-item": Created,
}

// Parameters of cmdlets, in lower case: those with a path, with the new path, and without a value.
var (
	pathParameters = []string{"-path", "-literalpath", "-filepath"}
	newParameters  = []string{"-destination", "-newname"}
	switches       = []string{"-force", "-recurse", "-raw", "-nonewline", "-append", "-passthru", "-noclobber", "-wait", "-confirm", "-verbose", "-whatif"}
)

// cmdletOps returns the file operations of a cmdlet of PowerShell. ok is false for other commands.
func cmdletOps(words []string) (out []Op, ok bool) {
	if len(words) > 2 && strings.HasPrefix(words[0], "$") && words[1] == "=" {
		words = words[2:]
	}
	op, ok := cmdlets[strings.ToLower(strings.TrimLeft(words[0], "("))]
	if !ok {
		return nil, false
	}
	files, to, options := parametersOf(words[1:])
	switch {
	case len(files) == 0, strings.EqualFold(options["-itemtype"], "directory"), options["-whatif"] != "":
		return nil, true
	case options["-append"] != "":
		op = Edited
	case op == Renamed || strings.EqualFold(words[0], "copy-item"):
		if to == "" && len(files) == 2 {
			to, files = files[1], files[:1]
		}
		if to == "" || len(files) != 1 {
			return nil, true
		}
		if strings.EqualFold(words[0], "rename-item") && !strings.Contains(to, "/") {
			to = path.Join(path.Dir(files[0]), to)
		}
		if op == Renamed {
			return appendRename(nil, []string{files[0], to}), true
		}
		files = []string{to}
	case (op == Created || op == Edited) && !strings.EqualFold(words[0], "new-item"):
		files = files[:1] // the next operand is the new text
	}
	out = appendFiles(nil, op, files...)
	for i := range out {
		out[i].cmdlet = true
	}
	return out, true
}

// writtenBack makes edits of the files that a command line of PowerShell read before it wrote
// them. Another shell empties such a file before the read, so its reads show no file.
func writtenBack(before, ops []Op) []Op {
	for i, f := range ops {
		if f.Op == Created && slices.ContainsFunc(before, func(b Op) bool { return b.Op == Read && b.cmdlet && (b.Path == f.Path || b.Named == f.Path) }) {
			ops[i].Op = Edited
		}
	}
	return ops
}

// parametersOf reads the arguments of a cmdlet: its files, the new path, and its other options.
func parametersOf(words []string) (files []string, to string, options map[string]string) {
	options = map[string]string{}
	for i := 0; i < len(words); i++ {
		low := strings.ToLower(words[i])
		value := low
		if takesNext := low == ">" || low == ">>" || strings.HasPrefix(low, "-") && !slices.Contains(switches, low); takesNext && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch {
		case !strings.HasPrefix(low, "-") && value == low, slices.Contains(pathParameters, low):
			files = append(files, pathsIn(words[i])...)
		case slices.Contains(newParameters, low):
			to = strings.Join(pathsIn(value), "")
		default:
			options[low] = value
		}
	}
	return files, to, options
}

// pathsIn returns the paths of an argument, which can be a list, with the slashes of other systems.
func pathsIn(arg string) []string {
	return strings.FieldsFunc(strings.Trim(strings.ReplaceAll(arg, `\`, "/"), "()"), func(r rune) bool { return r == ',' })
}
