package seal_test

import (
	"fmt"

	"github.com/agentcompact/compact/storage/seal"
)

// A stored fingerprint reveals nothing without the key.
func Example() {
	var key seal.Key // a real one comes from seal.NewKey
	s, fingerprint := seal.New(key), [16]byte{1, 2, 3}
	sealed := s.Seal(fingerprint)
	fmt.Println(sealed != fingerprint, s.Open(sealed) == fingerprint)
	// Output: true true
}
