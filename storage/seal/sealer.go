package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
)

// A Sealer seals fingerprints with one key. It is safe for concurrent use. The nil
// Sealer leaves them unsealed, as in archives of version 1.
type Sealer struct {
	id     string
	block  cipher.Block
	digest [KeySize]byte
}

// New returns the Sealer of a key.
func New(k Key) *Sealer {
	cipherKey := k.derive("fingerprint")
	block, _ := aes.NewCipher(cipherKey[:]) // never fails for 32 bytes
	return &Sealer{id: k.ID(), block: block, digest: k.derive("name")}
}

// ID returns the id of the key; "" for the nil Sealer.
func (s *Sealer) ID() string {
	if s == nil {
		return ""
	}
	return s.id
}

// Seal returns the sealed form of a fingerprint.
func (s *Sealer) Seal(fp [16]byte) (out [16]byte) {
	if s == nil {
		return fp
	}
	s.block.Encrypt(out[:], fp[:])
	return out
}

// Open returns the original of a sealed fingerprint.
func (s *Sealer) Open(sealed [16]byte) (fp [16]byte) {
	if s == nil {
		return sealed
	}
	s.block.Decrypt(fp[:], sealed[:])
	return fp
}

// Ref returns the reference of a part with this fingerprint, as in
// placeholders: the first 12 hex digits of the sealed fingerprint.
func (s *Sealer) Ref(fp [16]byte) string {
	sealed := s.Seal(fp)
	return hex.EncodeToString(sealed[:6])
}

// Digest returns a keyed hash of data for one purpose, for example for a name that
// holds a secret. It panics for the nil Sealer.
func (s *Sealer) Digest(purpose string, data []byte) (out [16]byte) {
	copy(out[:], mac(s.digest[:], purpose, data))
	return out
}
