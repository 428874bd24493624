package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ready      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// spoken returns a server's answers to lines that the end of the input follows
// directly: the ids of answers and the codes of errors.
func spoken(t *testing.T, open Opener, said ...string) (ids, codes []string) {
	t.Helper()
	var out buffer
	if err := Run(t.Context(), open, "v1", io.NopCloser(strings.NewReader(strings.Join(said, "\n"))), &out); err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out.Bytes()) {
		var m struct {
			ID    json.RawMessage
			Error *struct{ Code json.Number }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if ids = append(ids, string(m.ID)); m.Error != nil {
			codes = append(codes, m.Error.Code.String())
		}
	}
	slices.Sort(ids)
	return ids, codes
}

type buffer struct{ bytes.Buffer }

func (*buffer) Close() error { return nil }

func slowly(context.Context) (storage.Archive, error) {
	time.Sleep(50 * time.Millisecond)
	return memory.New(), nil
}

// TestRequestsBeforeTheEndAreAnswered: a client may write all its requests and
// close.
func TestRequestsBeforeTheEndAreAnswered(t *testing.T) {
	ids, codes := spoken(t, slowly, initialize, ready, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"three","method":"tools/call","params":{"name":"sessions","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":4,"method":"nobody/knows"}`)
	if !slices.Equal(ids, []string{`"three"`, "1", "2", "4"}) || !slices.Equal(codes, []string{"-32601"}) {
		t.Errorf("ids %q, errors %q", ids, codes)
	}
}

// TestLineWithoutAMessageEndsNothing: such a line and the lines after it get answers.
func TestLineWithoutAMessageEndsNothing(t *testing.T) {
	ids, codes := spoken(t, slowly, initialize, ready, "sessions", "", `"hello"`, "[]", `{"jsonrpc":"1.0","id":9,"method":"ping"}`, `[{"jsonrpc":"2.0","id":7,"method":"ping"}, 3, {"jsonrpc":"2.0","id":8,"method":"ping"}]`,
		`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	slices.Sort(codes)
	if !slices.Equal(ids, []string{"1", "2", "7", "8", "null", "null", "null", "null", "null"}) || !slices.Equal(codes, []string{"-32600", "-32600", "-32600", "-32600", "-32700"}) {
		t.Errorf("ids %q, errors %q", ids, codes)
	}
}

// TestEndOfTheContextEndsTheWait: a slow answer does not delay the end.
func TestEndOfTheContextEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	hangs := func(ctx context.Context) (storage.Archive, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	var out buffer
	said := strings.Join([]string{initialize, ready, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sessions","arguments":{}}}`}, "\n")
	if err := Run(ctx, hangs, "v1", io.NopCloser(strings.NewReader(said)), &out); err != nil {
		t.Error(err)
	}
}

// TestDisconnectedClientIsNoError: the client does not read the answers.
func TestDisconnectedClientIsNoError(t *testing.T) {
	if err := Run(t.Context(), slowly, "v1", io.NopCloser(strings.NewReader(initialize)), deafReader{}); err != nil {
		t.Error(err)
	}
}

type deafReader struct{}

func (deafReader) Write([]byte) (int, error) { return 0, errors.New("nobody reads") }

func (deafReader) Close() error { return nil }
