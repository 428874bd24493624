package main

import (
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/storage/crypt"
)

func newArchiveIdentity(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "identity",
		Short: "Make an identity for an encrypted archive",
		Long: `Identity prints a new age identity and its recipient, as age-keygen does. The identity is
secret, the recipient is not. Put the recipient into storage.encrypt.recipients. To read
the archive, put the identity into ` + crypt.IdentityVariable + `, or into a file that
` + crypt.IdentityFileVariable + ` names. Without the identity nobody can read the archive.`,
		Example: `  compactctl archive identity > key.txt`,
		Args:    arguments(cobra.NoArgs),
		RunE:    func(*cobra.Command, []string) error { return a.printIdentity() },
	}
}

// printIdentity prints a new identity and its recipient.
func (a *app) printIdentity() error {
	identity, recipient, err := crypt.NewIdentity()
	if err != nil {
		return err
	}
	a.warnIfReadable(a.out)
	if a.json {
		return a.printJSON(map[string]string{"identity": identity, "recipient": recipient})
	}
	_, err = fmt.Fprintf(a.out, "# recipient: %s\n%s\n", recipient, identity)
	return err
}

// warnIfReadable warns if a secret goes to a file that other users of the machine can read.
func (a *app) warnIfReadable(to io.Writer) {
	f, ok := to.(*os.File)
	if !ok || runtime.GOOS == "windows" { // modes mean nothing there
		return
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		a.complain("compactctl", "warning: other users can read the file with this secret: protect it with chmod 600")
	}
}
