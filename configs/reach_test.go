package configs

import (
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/crypt"
)

// recipient returns the recipient of a new identity.
func recipient(t *testing.T) string {
	t.Helper()
	_, recipient, err := crypt.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return recipient
}

// The settings of the spool reach it, for readers and for agents.
func TestSettingsReachTheSpool(t *testing.T) {
	var c compact.StorageConfig
	c.SpoolKeep = 11 * time.Second
	if r, a := spoolOptions(c, false), spoolOptions(c, true); r.Keep != c.SpoolKeep || !r.Passive || r.Blind || r.Over != nil || a.Keep != c.SpoolKeep || a.Passive || !a.Blind || a.Over != nil {
		t.Errorf("the spool of readers has %+v, that of agents %+v", r, a)
	}
	sealed := c
	sealed.Encrypt.Recipients = []string{recipient(t)}
	if r, a := spoolOptions(sealed, false), spoolOptions(sealed, true); r.Over == nil || a.Over == nil {
		t.Error("a spool in front of an encrypted bucket is not encrypted")
	}
}
