package reduce

import (
	"crypto/sha256"

	"github.com/agentcompact/compact/message"
)

// A Chain holds the links of a conversation that changes. A link is a hash of a prefix
// of the unpinned messages. The chain is computed only as far as callers ask. After a
// change, it is recomputed from the changed message on.
type Chain struct {
	links list[message.Fingerprint] // the first link is the link of the empty prefix
	added list[int]                 // the message that each link but the first adds
	next  int                       // the next message to add to the chain
}

func newChain() (k Chain) {
	k.links.add(message.Fingerprint{})
	return k
}

// At returns the hash of the first n unpinned messages of c, or of all of them
// if c has fewer. c must be the conversation that the chain belongs to.
func (k *Chain) At(c *Conversation, n int) Link {
	hash := k.at(c, n)
	return Link{N: min(n, k.links.len()-1), Hash: hash}
}

func (k *Chain) at(c *Conversation, n int) message.Fingerprint {
	for ; k.links.len() <= n && k.next < c.items.len(); k.next++ {
		if it := c.items.at(k.next); !it.pinned {
			k.links.add(linked(*k.links.at(k.links.len() - 1), it.m.Fingerprint()))
			k.added.add(k.next)
		}
	}
	return *k.links.at(min(n, k.links.len()-1))
}

// Cut forgets the links of messages from index i on. The messages before i must
// not have changed.
func (k *Chain) Cut(i int) {
	n := k.added.len()
	for n > 0 && *k.added.at(n - 1) >= i {
		n--
	}
	k.links.cut(n + 1)
	k.added.cut(n)
	k.next = min(k.next, i)
}

// Fork returns a chain for another conversation that has the same messages up
// to index i. It does not change k.
func (k *Chain) Fork(i int) *Chain {
	out := &Chain{links: k.links.clone(), added: k.added.clone(), next: k.next}
	out.Cut(i)
	return out
}

// linked returns the link that follows last when a message with fingerprint fp
// is added.
func linked(last, fp message.Fingerprint) message.Fingerprint {
	var buf [32]byte
	copy(buf[:16], last[:])
	copy(buf[16:], fp[:])
	sum := sha256.Sum256(buf[:])
	return message.Fingerprint(sum[:16])
}
