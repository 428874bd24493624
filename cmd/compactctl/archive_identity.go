package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage/crypt"
)

func newArchiveIdentity(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "identity",
		Short: "Make an identity for an encrypted archive",
		Long: `Identity prints a new identity of age, which is secret, and its recipient, which is not,
as age-keygen does. The recipient belongs into storage.encrypt.recipients. Who reads the
archive needs the identity, in ` + crypt.IdentityVariable + `, or in a file that
` + crypt.IdentityFileVariable + ` names. When it is lost nobody reads the archive.`,
		Example: `  compactctl archive identity > key.txt`,
		Args:    arguments(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			identity, recipient, err := crypt.NewIdentity()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"identity": identity, "recipient": recipient})
			}
			_, err = fmt.Fprintf(a.out, "# recipient: %s\n%s\n", recipient, identity)
			return err
		},
	}
}
