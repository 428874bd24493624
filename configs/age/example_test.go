package age_test

import (
	"fmt"

	"github.com/agentcompact/compact/configs"
	_ "github.com/agentcompact/compact/configs/age"
)

// With this import the archive can be encrypted. A wrong recipient is a mistake in the file.
func Example() {
	c, err := configs.Parse("compact.yaml", []byte("model: gpt-4o\nstorage: {encrypt: {recipients: [age1]}}\n"), configs.Environ(nil))
	fmt.Println(len(c.Storage.Encrypt.Recipients), err)
	// Output:
	// 0 compact.yaml:2: storage.encrypt.recipients[0] "age1" is not a recipient: it must be the public key of an age identity (age1…, X25519)
}
