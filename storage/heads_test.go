package storage_test

import (
	"testing"

	"github.com/agentcompact/compact/internal/forgery"
	"github.com/agentcompact/compact/storage"
)

func TestForgedHeadsAreFound(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) { forgery.Run(t, a, 1) })
}
