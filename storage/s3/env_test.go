package s3_test

import "os"

// With this variable, each client would parse all certificates that this machine trusts.
// The servers of the tests need none; the one test that needs a certificate sets the
// variable itself.
func init() { _ = os.Unsetenv("AWS_CA_BUNDLE") }
