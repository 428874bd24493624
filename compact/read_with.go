package compact

import (
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/storage/record"
)

// readWith returns the command that shows a file of the archive, "" if no
// command can.
func (c *call) readWith(w record.Written) string {
	file, s3 := place(w)
	root := s3
	if file != "" {
		root = filepath.ToSlash(file)
	}
	root, ok := strings.CutSuffix(root, "/"+w.Key.String())
	if !ok || root == "" {
		return ""
	}
	return "compactctl archive show " + shellWord(c.id) + " " + shellWord(path.Base(w.Key.String())) + " --archive " + shellWord(root)
}

// shellWord quotes a word for a shell.
func shellWord(s string) string {
	odd := func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@%+=", r)
	}
	if s != "" && strings.IndexFunc(s, odd) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
