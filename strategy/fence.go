package strategy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// fence returns a delimiter that none of the texts contains. The same texts give the same
// delimiter.
func fence(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write([]byte(strconv.Itoa(len(t)) + ":" + t))
	}
	return avoid("HISTORY-"+hex.EncodeToString(h.Sum(nil)[:8]), texts)
}

// avoid lengthens a delimiter until none of the texts contains it.
func avoid(delimiter string, texts []string) string {
	taken := func(d string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, d) })
	}
	d := delimiter
	for try := 1; taken(d); try++ {
		d = delimiter + "-" + strconv.Itoa(try)
	}
	return d
}

// fenced puts text between two lines of the delimiter.
func fenced(delimiter, what, text string) string {
	return "<<<BEGIN " + what + " " + delimiter + ">>>\n" + text + "\n<<<END " + what + " " + delimiter + ">>>"
}
