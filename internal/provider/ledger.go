package provider

import (
	"slices"
	"sync"
)

// ledger records the output of a server's model.
type ledger struct {
	mu     sync.Mutex
	sealed map[string]string   // signature or encrypted text → the content with which it was issued
	led    map[string][]string // call or item → seals that led to it, in order
	bare   map[string]bool     // items that were issued more than once, with different seals
}

func newLedger() ledger {
	return ledger{sealed: map[string]string{}, led: map[string][]string{}, bare: map[string]bool{}}
}

// seal records that a signature was issued with a content.
func (l *ledger) seal(signature, content string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sealed[signature] = content
}

// lead records which seals led to an item. An item that was issued twice with different
// seals is bound to no seal.
func (l *ledger) lead(item string, seals []string) {
	if item == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before, known := l.led[item]
	if known && !slices.Equal(before, seals) {
		l.bare[item] = true
	}
	l.led[item] = slices.Clone(seals)
}

// isGenuine reports whether a signature was issued with this content.
func (l *ledger) isGenuine(signature, content string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	issued, ok := l.sealed[signature]
	return ok && issued == content
}

// ledBy returns the seals that an item requires.
func (l *ledger) ledBy(item string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bare[item] {
		return nil
	}
	return l.led[item]
}

// mayPrecede reports whether a seal may precede an item.
func (l *ledger) mayPrecede(seal, item string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bare[item] || slices.Contains(l.led[item], seal)
}
