package compact

import "strings"

// UnnamedSession is the prefix of ids that are made up for sessions without a
// name. Two sessions may share such an id, so placeholders under it name no
// reference, and [CompactManager.Recall] finds nothing under it.
const UnnamedSession = "unnamed:"

func isUnnamed(session string) bool { return strings.HasPrefix(session, UnnamedSession) }
