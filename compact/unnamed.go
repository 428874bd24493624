package compact

import "strings"

// UnnamedSession is the prefix of ids that are generated for sessions without a
// name. Two sessions may have the same generated id, so placeholders of such a
// session have no reference, and [CompactManager.Recall] finds nothing in it.
const UnnamedSession = "unnamed:"

func isUnnamed(session string) bool { return strings.HasPrefix(session, UnnamedSession) }
