package compact

import (
	"maps"
	"slices"
)

// A reading reads results from the archive in the background, for a prepared
// summary, if the caller keeps only the view. So a call without a compaction
// never waits for the archive.
type reading struct {
	asked  []string          // references, including references of earlier readings
	before map[string]string // results of the earlier readings
	done   chan struct{}     // closed when found is set

	found map[string]string
	bytes int64 // memory of before and found
}

// isDone reports whether the reading has ended. The receiver may be nil.
func (r *reading) isDone() bool {
	if r == nil {
		return true
	}
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// into adds the results found so far to all.
func (r *reading) into(all map[string]string) {
	if r == nil {
		return
	}
	maps.Copy(all, r.before)
	if r.isDone() {
		maps.Copy(all, r.found)
	}
}

// unasked returns the references that were not read before.
func (r *reading) unasked(refs []string) (out []string) {
	for _, ref := range refs {
		if r == nil || !slices.Contains(r.asked, ref) {
			out = append(out, ref)
		}
	}
	return out
}

// weight returns the approximate memory in bytes.
func (r *reading) weight() int64 {
	if r == nil || !r.isDone() {
		return 0
	}
	return r.bytes + seenWeight*int64(len(r.before)+len(r.found))
}

func sizeOfTexts(texts map[string]string) (n int64) {
	for _, s := range texts {
		n += int64(len(s))
	}
	return n
}
