package policy

import (
	"crypto/sha256"
	"slices"

	"github.com/agentcompact/compact/message"
)

// A Chain is the links of a conversation that changes: a hash for every prefix,
// counted in messages that are not pinned. It is computed as far as it is asked
// for, and goes on from the first change.
type Chain struct {
	links []message.Fingerprint // the empty prefix first
	of    []int                 // the message that each link but the first adds
	next  int                   // the message that the chain goes on with
}

func newChain() Chain { return Chain{links: make([]message.Fingerprint, 1)} }

// At returns the hash of the first n messages of c that are not pinned. c is the
// conversation that the chain is of; where it has fewer, that of all of them.
func (k *Chain) At(c *Conversation, n int) Link {
	hash := k.at(c, n)
	return Link{N: min(n, len(k.links)-1), Hash: hash}
}

func (k *Chain) at(c *Conversation, n int) message.Fingerprint {
	for ; len(k.links) <= n && k.next < len(c.items); k.next++ {
		if m := &c.items[k.next].m; !c.pins.Pinned(m) {
			k.links, k.of = append(k.links, linked(k.links[len(k.links)-1], m.Fingerprint())), append(k.of, k.next)
		}
	}
	return k.links[min(n, len(k.links)-1)]
}

// Cut forgets the links of what stands from message i on. What stands before it
// must be what it was.
func (k *Chain) Cut(i int) {
	n := len(k.of)
	for n > 0 && k.of[n-1] >= i {
		n--
	}
	k.links, k.of, k.next = k.links[:n+1], k.of[:n], min(k.next, i)
}

// Fork returns a chain of another conversation that has the same messages up to
// index i. k stays as it is.
func (k *Chain) Fork(i int) *Chain {
	out := *k
	out.Cut(i)
	out.links, out.of = slices.Clone(out.links), slices.Clone(out.of)
	return &out
}

// linked is the next link of a chain.
func linked(last, fp message.Fingerprint) message.Fingerprint {
	var buf [32]byte
	copy(buf[:16], last[:])
	copy(buf[16:], fp[:])
	sum := sha256.Sum256(buf[:])
	return message.Fingerprint(sum[:16])
}
