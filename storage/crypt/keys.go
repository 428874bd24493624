package crypt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"filippo.io/age"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

const (
	// IdentityVariable is the environment variable with the identities for reading
	// an archive: AGE-SECRET-KEY-1…, separated by commas, blanks or line feeds.
	IdentityVariable = "COMPACT_ARCHIVE_IDENTITY"
	// IdentityFileVariable is the environment variable with the name of a file of
	// identities, in the format of age-keygen. It is read if [IdentityVariable] is not set.
	IdentityFileVariable = "COMPACT_ARCHIVE_IDENTITY_FILE"
)

// MaxRecipients is the maximum number of recipients. Their stanzas must fit into a
// header of [headerSize].
const MaxRecipients = 7

// Keys holds the recipients of an archive and the identities of this process. It
// never prints identities.
type Keys struct {
	recipients []*age.X25519Recipient
	identities []*age.X25519Identity
	own        *age.X25519Identity // temporary key with which a process without an identity reads its own objects
}

// NewKeys parses at least one recipient (age1…) and any number of identities, which
// have the format of [IdentityVariable] and may be empty. Errors may quote a
// recipient. They never quote an identity, even if it was given in place of a
// recipient.
func NewKeys(recipients []string, identities string) (*Keys, error) {
	k := &Keys{}
	var err error
	if k.recipients, err = parseRecipients(recipients); err != nil {
		return nil, err
	}
	if k.identities, err = parseIdentities(identities); err != nil {
		return nil, err
	}
	if len(k.identities) == 0 {
		if k.own, err = age.GenerateX25519Identity(); err != nil {
			return nil, fmt.Errorf("crypt: %w", err)
		}
	}
	return k, nil
}

// ReadingKeys returns keys without recipients, which can only read.
func ReadingKeys(identities string) (*Keys, error) {
	ids, err := parseIdentities(identities)
	if err != nil {
		return nil, err
	}
	return &Keys{identities: ids}, nil
}

// String returns the counts of recipients and identities.
func (k *Keys) String() string {
	return fmt.Sprintf("%d recipients, %d identities", len(k.recipients), len(k.identities))
}

// GoString is String.
func (k *Keys) GoString() string { return k.String() }

// CanRead reports whether there is an identity.
func (k *Keys) CanRead() bool { return len(k.identities) > 0 }

// to returns the recipients of new objects.
func (k *Keys) to() []*age.X25519Recipient {
	if k.own == nil {
		return k.recipients
	}
	return append(k.recipients[:len(k.recipients):len(k.recipients)], k.own.Recipient())
}

// with returns the identities for decryption.
func (k *Keys) with() []age.Identity {
	var all []age.Identity
	for _, i := range k.identities {
		all = append(all, i)
	}
	if k.own != nil {
		all = append(all, k.own)
	}
	return all
}

// has reports whether an identity belongs to one of the recipients with these ids.
func (k *Keys) has(ids []string) bool {
	for _, i := range k.with() {
		x, ok := i.(*age.X25519Identity)
		for _, id := range ids {
			if ok && idOf(x.Recipient()) == id {
				return true
			}
		}
	}
	return false
}

// idOf returns the short id of a recipient in headers.
func idOf(r *age.X25519Recipient) string {
	sum := sha256.Sum256([]byte("compact archive recipient\n" + r.String()))
	return hex.EncodeToString(sum[:4])
}

var errNoRecipient = errors.New("no recipient is named: storage.encrypt.recipients needs one (age1…), as age-keygen prints it")

func parseRecipients(texts []string) ([]*age.X25519Recipient, error) {
	var all []*age.X25519Recipient
	seen := map[string]bool{}
	for _, text := range texts {
		text = strings.TrimSpace(text)
		if strings.Contains(strings.ToUpper(text), "SECRET-KEY-") {
			return nil, errors.New("a recipient is a secret identity: use its public key (age1…)")
		}
		r, err := age.ParseX25519Recipient(text)
		if err != nil {
			return nil, fmt.Errorf("%s is not a recipient: it must be the public key of an age identity (age1…, X25519)", described(text))
		}
		if !seen[r.String()] {
			seen[r.String()] = true
			all = append(all, r)
		}
	}
	switch {
	case len(all) == 0:
		return nil, errNoRecipient
	case len(all) > MaxRecipients:
		return nil, fmt.Errorf("there are %d recipients, and at most %d are possible", len(all), MaxRecipients)
	}
	return all, nil
}

// described returns a text for an error message. It quotes only the beginning that can
// belong to a public key; the rest could belong to a secret key.
func described(text string) string {
	if !strings.HasPrefix(text, "age1") {
		return fmt.Sprintf("a text of %d characters that does not begin with age1", utf8.RuneCountInString(text))
	}
	const most = 62 // length of a recipient
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	if end < 0 {
		end = len(text)
	}
	if end = min(end, most); end < len(text) {
		return strconv.Quote(text[:end] + "…")
	}
	return strconv.Quote(text)
}

var errIdentity = errors.New("the identities of the archive (" + IdentityVariable + ", or the file that " + IdentityFileVariable +
	" names) must be one or more of AGE-SECRET-KEY-1…, and nothing else: use the output of age-keygen")

func parseIdentities(text string) ([]*age.X25519Identity, error) {
	var all []*age.X25519Identity
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "#") {
			continue
		}
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
			i, err := age.ParseX25519Identity(word)
			if err != nil {
				return nil, errIdentity // err could hold the key
			}
			all = append(all, i)
		}
	}
	if strings.TrimSpace(text) != "" && len(all) == 0 {
		return nil, errIdentity
	}
	return all, nil
}

// IdentityText returns the identities in the environment, "" if there are none. A
// blank [IdentityVariable] counts as not set, but a blank file is an error.
func IdentityText() (string, error) {
	if text := os.Getenv(IdentityVariable); strings.TrimSpace(text) != "" {
		return text, nil
	}
	name := os.Getenv(IdentityFileVariable)
	if name == "" {
		return "", nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", IdentityFileVariable, err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", errIdentity
	}
	return string(data), nil
}

// RecipientsIn reads a file with one recipient in each line; lines that begin
// with # are comments.
func RecipientsIn(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var all []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			all = append(all, line)
		}
	}
	return all, nil
}

// RecipientsOf returns the recipients to which identities belong. The identities have
// the format of [IdentityVariable] and may be empty.
func RecipientsOf(identities string) ([]string, error) {
	ids, err := parseIdentities(identities)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, i := range ids {
		all = append(all, i.Recipient().String())
	}
	return all, nil
}

// NewIdentity returns a new identity and its recipient, like age-keygen.
func NewIdentity() (identity, recipient string, err error) {
	i, err := age.GenerateX25519Identity()
	if err != nil {
		return "", "", fmt.Errorf("crypt: %w", err)
	}
	return i.String(), i.Recipient().String(), nil
}

// Try encrypts and decrypts in memory. It returns [storage.ErrNoIdentity] if there
// are identities but none belongs to a recipient, because the written data could
// not be read.
func (k *Keys) Try(ctx context.Context) error {
	inner := memory.New()
	file, err := storage.ParseKey("try/file")
	if err == nil {
		err = New(inner, k).Create(ctx, file, storage.Blob{})
	}
	if err != nil {
		return err
	}
	r, err := New(inner, k).Open(ctx, file, 0, -1) // a new archive, which has not cached the file key
	if err != nil {
		return err
	}
	return r.Close()
}
