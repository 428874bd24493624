package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/hex"
)

// A Sealer seals fingerprints with one key. It is safe for concurrent use. The nil
// Sealer leaves them as they are, as archives of version 1 have them.
type Sealer struct {
	id     string
	block  cipher.Block
	digest [KeySize]byte
}

// New returns the Sealer of a key.
func New(k Key) *Sealer {
	cipherKey := k.derive("fingerprint")
	block, _ := aes.NewCipher(cipherKey[:]) // 32 bytes are a key
	return &Sealer{id: k.ID(), block: block, digest: k.derive("name")}
}

// ID is that of the key; "" for the nil Sealer.
func (s *Sealer) ID() string {
	if s == nil {
		return ""
	}
	return s.id
}

// Seal returns what stands for a fingerprint outside of memory.
func (s *Sealer) Seal(fp [16]byte) (out [16]byte) {
	if s == nil {
		return fp
	}
	s.block.Encrypt(out[:], fp[:])
	return out
}

// Open returns the fingerprint that was sealed.
func (s *Sealer) Open(sealed [16]byte) (fp [16]byte) {
	if s == nil {
		return sealed
	}
	s.block.Decrypt(fp[:], sealed[:])
	return fp
}

// Ref is the reference of a part with this fingerprint, as placeholders say it:
// the first 12 hex digits of what stands for it.
func (s *Sealer) Ref(fp [16]byte) string {
	sealed := s.Seal(fp)
	return hex.EncodeToString(sealed[:6])
}

// Digest is a keyed hash of data for one purpose: of a name, say, that can't be
// shown. The nil Sealer has none, and panics.
func (s *Sealer) Digest(purpose string, data []byte) (out [16]byte) {
	copy(out[:], mac(s.digest[:], purpose, data))
	return out
}
