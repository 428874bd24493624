package strategy

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// fence returns a delimiter that none of the texts contains. It is the same
// for the same texts.
func fence(texts ...string) string {
	h := sha256.New()
	for _, t := range texts {
		h.Write([]byte(t))
		h.Write([]byte{0})
	}
	sum := h.Sum(nil)
	for try := 0; ; try++ {
		d := "HISTORY-" + hex.EncodeToString(sum[:8])
		if try > 0 {
			d += "-" + strconv.Itoa(try)
		}
		clash := false
		for _, t := range texts {
			clash = clash || strings.Contains(t, d)
		}
		if !clash {
			return d
		}
	}
}

// fenced puts text between two lines of the delimiter.
func fenced(delimiter, what, text string) string {
	return "<<<BEGIN " + what + " " + delimiter + ">>>\n" + text + "\n<<<END " + what + " " + delimiter + ">>>"
}
