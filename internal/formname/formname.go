// Package formname defines the names of the forms of placeholders. Ledgers store these
// names; package policy defines the texts. The number after @ is the version of the
// form. The text of a version never changes, so an old ledger always renders the same
// text.
package formname

import (
	"crypto/sha256"
	"encoding/hex"
)

// Names that packages other than policy also use.
const (
	Observation = "observation@1"
	Recall      = "recall@1"
	Call        = "call@1"        // names the call and states how it ended
	CallRecall  = "call-recall@1" // as call@1, and gives the reference for a recall
	Result      = "result@1"
	// Forms for the end of the first line of a result that was reduced on arrival.
	// TidiedWhole has no text; it records the origin of a result that lost nothing.
	Tidied       = "tidied@1"
	TidiedRecall = "tidied-recall@1"
	TidiedWhole  = "tidied-whole@1"
	// The replacement of an image, audio or a file.
	Media = "media@1"
)

// Custom returns a name for a custom template, derived from its content.
func Custom(template string) string {
	sum := sha256.Sum256([]byte(template))
	return "custom-" + hex.EncodeToString(sum[:6]) + "@1"
}
