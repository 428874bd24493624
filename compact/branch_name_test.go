package compact

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage/seal"
)

// Only a branch that is made of fingerprints is hashed: any other name, given by a caller,
// is in the ledger unchanged.
func TestOnlyBranchesOfFingerprintsAreHashed(t *testing.T) {
	keys, hash := seal.NewRing(seal.InMemory, seal.NewKey()), strings.Repeat("0123456789abcdef", 2)
	for branch, hashed := range map[string]bool{
		hash: true, hash + ".0123456789ab": true,
		"": false, "main": false, hash[:31]: false, hash + "0": false, strings.ToUpper(hash): false,
		hash + ".0123": false, hash + ".0123456789abc": false, hash + ".0123456789xy": false, hash + ".0123456789ab.c": false,
	} {
		if got := branchName(keys, branch); (got != branch) != hashed || hashed && (!strings.HasPrefix(got, "b-") || strings.Contains(got, hash)) {
			t.Errorf("%q is called %q", branch, got)
		}
	}
}
