// Package testkey gives the tests of this project a key for their archives, so that
// no test makes a key in the user's configuration, and placeholders are the same in
// each run. Only tests import it.
package testkey

import (
	"os"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/seal"
)

// Text is the key in the form of COMPACT_ARCHIVE_KEY.
const Text = "636f6d706163742074657374206b65792c206e6f742061207365637265742121"

func init() {
	if _, set := os.LookupEnv("COMPACT_ARCHIVE_KEY"); set {
		return // a test that runs this process sets another key, or none
	}
	if err := os.Setenv("COMPACT_ARCHIVE_KEY", Text); err != nil {
		panic(err)
	}
}

var sealer = func() *seal.Sealer {
	k, err := seal.ParseKey(Text)
	if err != nil {
		panic(err)
	}
	return seal.New(k)
}()

// Ref returns the reference of a part, as in its placeholder.
func Ref(p message.Part) string { return sealer.Ref(p.Fingerprint()) }

// Sealed returns a fingerprint in the form that the archive stores.
func Sealed(fp message.Fingerprint) message.Fingerprint { return sealer.Seal(fp) }
