package s3_test

import "os"

// The servers of the tests need no certificates of their own, except for one test that sets
// the variable itself. Each client would parse all those that this machine trusts.
func init() { _ = os.Unsetenv("AWS_CA_BUNDLE") }
