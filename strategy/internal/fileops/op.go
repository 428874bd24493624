package fileops

import (
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// A Kind is the operation of a call on a file.
type Kind uint8

// The operations, in order of importance, the most important last.
const (
	Read Kind = iota
	Ran
	Edited
	Created
	Renamed
	Deleted
	TookBack // took back changes; no state of a file
)

var opNames = [...]string{"read", "ran", "edited", "created", "renamed", "deleted", "took back"}

// String returns the word that summaries use.
func (o Kind) String() string { return opNames[o] }

// An Op is one operation of a call on one file.
type Op struct {
	Path  string
	From  string // previous path of a renamed file
	Op    Kind
	Funcs []string // functions, types and classes that the change touches
	Added []string // new headings or the first new line, for files of text and settings
	Named string   // the path as the call writes it, if Path differs
	Back  int      // number of changes that TookBack took back
	All   bool     // TookBack took back all changes of the file
	Last  bool     // TookBack takes back only the last change
	Kept  int      // number of the step of the last change that TookBack left

	cmdlet bool // a command of PowerShell performed the operation
}

// IsPath reports whether an argument names one file, not a pattern, a
// folder or a sentence.
func IsPath(s string) bool {
	return s != "" && len(s) < 400 && !strings.ContainsAny(s, "*?\n\"<>|") && !strings.HasSuffix(s, "/") &&
		(strings.Contains(path.Base(s), ".") || strings.Count(s, "/") > 1 || bareFiles[path.Base(s)]) && s != "." && s != ".."
}

// bareFiles are names of files of build programs, without an extension.
var bareFiles = map[string]bool{"Makefile": true, "GNUmakefile": true, "Dockerfile": true, "Containerfile": true, "Jenkinsfile": true, "Vagrantfile": true, "Gemfile": true, "Rakefile": true, "Procfile": true, "Brewfile": true,
	"Caddyfile": true, "Justfile": true, "justfile": true}

// MaxFuncs is the maximum number of touched functions kept for one change.
const MaxFuncs = 12

func (f *Op) add(name string) {
	if name != "" && len(f.Funcs) < MaxFuncs && !slices.Contains(f.Funcs, name) {
		f.Funcs = append(f.Funcs, name)
	}
}

// in returns the operation with its paths joined to dir, the folder of the command.
func (f Op) in(dir string) Op {
	if p := shell.InFolder(dir, f.Path); p != f.Path {
		f.Path, f.Named = p, f.Path
	}
	f.From = shell.InFolder(dir, f.From)
	return f
}

// extension returns the extension of a file in lower case.
func extension(file string) string { return strings.ToLower(path.Ext(Key(file))) }

// Key returns a Windows path with forward slashes and a drive in upper case, because tools
// write all forms, also "/d/a" for "D:\a". Other paths are not changed: they may contain
// backslashes.
func Key(p string) string {
	switch {
	case Drive(p):
		return strings.ToUpper(p[:1]) + strings.ReplaceAll(p[1:], `\`, "/")
	case len(p) > 3 && p[0] == '/' && p[2] == '/' && p[1] >= 'a' && p[1] <= 'z':
		return strings.ToUpper(p[1:2]) + ":" + p[2:]
	}
	return p
}

// Drive reports whether a path begins with the drive of Windows: "D:\a" and "D:/a".
func Drive(p string) bool {
	return len(p) > 2 && p[1] == ':' && prose.IsLetter(rune(p[0])) && (p[2] == '\\' || p[2] == '/')
}
