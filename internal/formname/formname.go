// Package formname has the names of the forms of placeholders, as ledgers store
// them. Package policy has the texts. The number after @ is the version of the
// form, so that an old ledger renders the same text forever.
package formname

import (
	"crypto/sha256"
	"encoding/hex"
)

// The names that other packages than policy use, too.
const (
	Observation = "observation@1"
	Recall      = "recall@1"
	Call        = "call@1"        // names the call and states how it ended
	CallRecall  = "call-recall@1" // likewise, with the reference for a recall
	Result      = "result@1"
	// The end of the first line of a result that was reduced on arrival.
	// TidiedWhole only records the origin of a result that lost nothing.
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
