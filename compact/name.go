package compact

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/seal"
)

// names holds session, agent and branch of a call, as the caller gave them.
type names struct{ session, agent, branch string }

// KeyedName returns the name under which an archive stores a session, an agent or a
// branch: the id itself, or a keyed hash of an id that holds a secret. Pass the
// redactor and the keys of the archive. Use it to look an id up in an archive.
func KeyedName(r *redact.Redactor, keys *seal.Ring, id string) redact.Text {
	if front, origin, ok := madeOfContent(id); ok {
		return redact.Join(KeyedName(r, keys, front), redact.Lit(":k-"), redact.Digest(keys.Root().Digest("origin", []byte(origin))))
	}
	name, secret := named(r, id)
	if !secret {
		return name
	}
	return redact.Join(redact.Lit("redacted-"), redact.Digest(keys.Root().Digest("name", []byte(id))))
}

// SessionName returns the name of a session, an agent or a branch in archives of
// version 1, whose hashes have no key. Try it if nothing is stored under
// [KeyedName].
func SessionName(r *redact.Redactor, id string) redact.Text {
	name, secret := named(r, id)
	if !secret {
		return name
	}
	sum := sha256.Sum256([]byte("compact name " + id))
	return redact.Join(redact.Lit("redacted-"), redact.Digest([16]byte(sum[:16])))
}

// RequestSession is the prefix of session ids that a hook derives from the user id
// or the cache key of a request. Such an id ends with ":" and 32 hex digits, a hash
// of the caller and of the beginning of the conversation; the archive stores a
// keyed hash of it.
const RequestSession = "request:"

func madeOfContent(id string) (front, origin string, ok bool) {
	at := strings.LastIndexByte(id, ':')
	if !strings.HasPrefix(id, RequestSession) || len(id)-at-1 != 32 || !isHex(id[at+1:]) {
		return "", "", false
	}
	return id[:at], id[at+1:], true
}

// named returns an id without its secrets, and reports whether it holds any.
func named(r *redact.Redactor, id string) (name redact.Text, secret bool) {
	name = r.Text(id)
	if name.String() == id {
		return name, false
	}
	return name, true
}

// branchName returns a keyed hash for a branch that consists of fingerprints, as
// hooks derive it from the beginning of a conversation. Any other name is returned
// unchanged.
func branchName(keys *seal.Ring, branch string) string {
	first, rest, _ := strings.Cut(branch, ".")
	if len(first) != 32 || !isHex(first) || rest != "" && (len(rest) != 12 || !isHex(rest)) {
		return branch
	}
	sum := keys.Root().Digest("branch", []byte(branch))
	return "b-" + hex.EncodeToString(sum[:])
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// UnnamedSession is the prefix of ids that are generated for sessions without a
// name. Two sessions may have the same generated id, so placeholders of such a
// session have no reference, and [CompactManager.Recall] finds nothing in it;
// [CompactManager.RecallShown] does.
const UnnamedSession = "unnamed:"

func isUnnamed(session string) bool { return strings.HasPrefix(session, UnnamedSession) }
