package main

import (
	"bufio"
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestMCPRefusesUnknownRequests: the server answers, and continues until the end
// of the input.
func TestMCPRefusesUnknownRequests(t *testing.T) {
	var out, errOut bytes.Buffer
	in := strings.NewReader("sessions\n" + `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	code := run(t.Context(), []string{"mcp"}, in, &out, &errOut)
	if code != exitOK || errOut.Len() > 0 || !strings.Contains(out.String(), `"id":null,"error":{"code":-32700,"message":"this line is not JSON`) || !strings.Contains(out.String(), `"id":2`) {
		t.Errorf("%d %q %q", code, out.String(), errOut.String())
	}
}

// The server answers on standard output, even without an archive, and writes nothing
// else there.
func TestMCPSpeaksOnStandardInputAndOutput(t *testing.T) {
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"sessions","arguments":{}}}`,
	}, "\n") + "\n"
	var errOut bytes.Buffer
	toServer, client := io.Pipe()
	answers, fromServer := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(t.Context(), []string{"mcp", "--archive", filepath.Join(t.TempDir(), "none")}, toServer, fromServer, &errOut)
		_ = fromServer.Close()
	}()
	go func() { _, _ = io.WriteString(client, in) }()
	var out strings.Builder
	for lines := bufio.NewScanner(answers); strings.Count(out.String(), "\n") < 3 && lines.Scan(); {
		out.WriteString(lines.Text() + "\n")
	}
	_ = client.Close()
	if code := <-ended; code != exitOK || errOut.Len() > 0 {
		t.Errorf("%d %s", code, errOut.String())
	}
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, `{"jsonrpc":"2.0",`) {
			t.Errorf("%q", line)
		}
	}
	for _, want := range []string{`"name":"compact"`, `"name":"recall"`, `"name":"search"`, `"name":"sessions"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out.String())
		}
	}
}
