// Package seal keeps fingerprints from giving back what they are of.
//
// A fingerprint is a hash of a message as it came in. Beside a redacted line it
// would give the secret back to whoever tries all telephone numbers. So what
// leaves memory is sealed: a fingerprint of 16 bytes is one block of a cipher
// (AES-256) under a key that lies outside of the archive, and what is longer is
// an HMAC-SHA256. Who has the key can open a fingerprint again; so what a ledger
// says is compared in memory as if it had never been sealed, whichever key it was
// sealed with, and a new key changes no view.
//
// # Keys
//
// Keys come from the configuration (COMPACT_ARCHIVE_KEY: 64 hex digits or base64
// of 32 bytes; several, the newest first, with commas in between), or lie in
// $XDG_CONFIG_HOME/compact/keys (elsewhere where the system keeps configuration),
// one a file of mode 0600, made at first use. The archive has the ids of those
// ([github.com/agentcompact/compact/storage/record.KeyIDs]), and each ledger the id of the
// key that it is sealed with. An id is an HMAC under the key, and tells nothing of it.
package seal
