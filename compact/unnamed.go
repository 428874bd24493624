package compact

import "strings"

// UnnamedSession is what ids begin with that somebody made up for a session
// that has no name. What looks like the same session may be two: placeholders
// made under such an id name no reference, and [CompactManager.Recall] finds
// nothing under it.
const UnnamedSession = "unnamed:"

func isUnnamed(session string) bool { return strings.HasPrefix(session, UnnamedSession) }
