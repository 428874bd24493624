package redact_test

import (
	"crypto/sha256"
	"math/big"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
)

// wif returns a private key in the wallet import format.
func wif(network byte, compressed bool) string {
	raw := []byte{network}
	for i := range 32 {
		raw = append(raw, byte(7*i+1))
	}
	if compressed {
		raw = append(raw, 1)
	}
	once := sha256.Sum256(raw)
	twice := sha256.Sum256(once[:])
	n, digit := new(big.Int).SetBytes(append(raw, twice[:4]...)), new(big.Int)
	out := ""
	for n.Sign() > 0 {
		n.DivMod(n, big.NewInt(58), digit)
		out = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[digit.Int64():][:1] + out
	}
	return out
}

// The private keys of wallets are removed, for the main network and for the test network.
func TestPrivateKeysOfWalletsAreRemoved(t *testing.T) {
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]string{
		"main network, uncompressed": wif(0x80, false), "main network": wif(0x80, true),
		"test network, uncompressed": wif(0xEF, false), "test network": wif(0xEF, true),
	} {
		if got := r.Text("imported " + key + " into the wallet").String(); strings.Contains(got, key[10:40]) {
			t.Errorf("%s: the key is not removed: %q", name, got)
		}
	}
}
