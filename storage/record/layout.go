package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Names of a session's logs.
const (
	manifestName = "manifest.jsonl"
	eventsName   = "events.jsonl"
	journalName  = "journal.jsonl"
	editsName    = "edits.jsonl"
)

// EditsFile is the name of the log of [Session.Edits], which later files of the session refer to.
const EditsFile = editsName

// kind is a kind of file that is created once: NAME-NNN.EXT.
type kind struct{ name, ext string }

var (
	transcriptKind = kind{"transcript-pre-compact", "jsonl"}
	originalsKind  = kind{"originals", "jsonl"}
	finalKind      = kind{"transcript-final", "jsonl"}
	summaryKind    = kind{"summary", "json"}
	ledgerKind     = kind{"ledger", "json"}
	indexKind      = kind{"turns", "idx"}
	finalIndexKind = kind{"turns-final", "idx"}
)

// file returns the name of the n-th file of a kind. attempt is above 1 if an
// abandoned file has the name: NAME-NNN.2.EXT, and so on.
func (k kind) file(n, attempt int) string {
	if attempt > 1 {
		return fmt.Sprintf("%s-%03d.%d.%s", k.name, n, attempt, k.ext)
	}
	return fmt.Sprintf("%s-%03d.%s", k.name, n, k.ext)
}

// number returns n if name is the first attempt of the n-th file of the kind.
func (k kind) number(name string) (int, bool) {
	rest, ok := strings.CutPrefix(name, k.name+"-")
	if !ok {
		return 0, false
	}
	digits, ok := strings.CutSuffix(rest, "."+k.ext)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && k.file(n, 1) == name
}

// hasKind reports whether name is a file of the kind, of any attempt.
func hasKind(name string, k kind) bool {
	return strings.HasPrefix(name, k.name+"-") && strings.HasSuffix(name, "."+k.ext)
}

// isOfSession reports whether only sessions have files of this name.
func isOfSession(name string) bool {
	return isLog(name) || strings.HasPrefix(name, scrubPrefix) || slices.ContainsFunc(
		[]kind{transcriptKind, originalsKind, finalKind, summaryKind, ledgerKind, indexKind, finalIndexKind}, func(k kind) bool { return hasKind(name, k) })
}

// isLog reports whether a file is appended to rather than created once.
func isLog(name string) bool {
	return name == manifestName || name == eventsName || name == journalName || name == editsName
}
