package policy

import (
	"crypto/sha256"

	"github.com/agentcompact/compact/message"
)

// A Chain is the links of a conversation that changes: a hash for every prefix,
// counted in messages that are not pinned. It is computed as far as it is asked
// for, and goes on from the first change.
type Chain struct {
	links list[message.Fingerprint] // the empty prefix first
	of    list[int]                 // the message that each link but the first adds
	next  int                       // the message that the chain goes on with
}

func newChain() (k Chain) {
	k.links.add(message.Fingerprint{})
	return k
}

// At returns the hash of the first n messages of c that are not pinned. c is the
// conversation that the chain is of; where it has fewer, that of all of them.
func (k *Chain) At(c *Conversation, n int) Link {
	hash := k.at(c, n)
	return Link{N: min(n, k.links.len()-1), Hash: hash}
}

func (k *Chain) at(c *Conversation, n int) message.Fingerprint {
	for ; k.links.len() <= n && k.next < c.items.len(); k.next++ {
		if it := c.items.at(k.next); !it.pinned {
			k.links.add(linked(*k.links.at(k.links.len() - 1), it.m.Fingerprint()))
			k.of.add(k.next)
		}
	}
	return *k.links.at(min(n, k.links.len()-1))
}

// Cut forgets the links of what stands from message i on. What stands before it
// must be what it was.
func (k *Chain) Cut(i int) {
	n := k.of.len()
	for n > 0 && *k.of.at(n - 1) >= i {
		n--
	}
	k.links.cut(n + 1)
	k.of.cut(n)
	k.next = min(k.next, i)
}

// Fork returns a chain of another conversation that has the same messages up to
// index i. k stays as it is.
func (k *Chain) Fork(i int) *Chain {
	out := &Chain{links: k.links.clone(), of: k.of.clone(), next: k.next}
	out.Cut(i)
	return out
}

// linked is the next link of a chain.
func linked(last, fp message.Fingerprint) message.Fingerprint {
	var buf [32]byte
	copy(buf[:16], last[:])
	copy(buf[16:], fp[:])
	sum := sha256.Sum256(buf[:])
	return message.Fingerprint(sum[:16])
}
