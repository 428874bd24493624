// Package seal encrypts fingerprints, so that nobody can recover the text from them.
//
// A fingerprint is a hash of a message before redaction. Stored beside the redacted line,
// it would reveal the secret to anyone who tries all telephone numbers. So fingerprints
// are sealed before they leave memory: a fingerprint of 16 bytes is encrypted as one
// block (AES-256) with a key that is stored outside of the archive, and a longer hash is
// replaced by an HMAC-SHA256. A holder of the key can decrypt the fingerprint again. So a
// process that reads a ledger removes the seals and compares the fingerprints themselves,
// whichever key sealed them, and a new key changes no view.
//
// # Keys
//
// Keys come from the configuration (COMPACT_ARCHIVE_KEY: 64 hex digits or base64 of 32
// bytes; several keys are separated by commas, the newest first), or from
// $XDG_CONFIG_HOME/compact/keys (on other systems from the system's configuration folder),
// one in each file of mode 0600, created at first use. The archive has the ids of these
// keys ([github.com/agentcompact/compact/storage/record.KeyIDs]), and each ledger has the
// id of the key that seals it. An id is an HMAC under the key, and does not reveal the
// key.
package seal
