package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// forge DIR FILE rewrites the manifest of a session like an attacker who has
// changed FILE and wants to hide it: with the new hash, and a valid chain.
func cmdForge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: forge DIR FILE")
	}
	data := []byte(ts.ReadFile(filepath.Join(args[0], args[1])))
	manifest := filepath.Join(args[0], "manifest.jsonl")
	ts.Check(os.WriteFile(ts.MkAbs(manifest), forged([]byte(ts.ReadFile(manifest)), args[1], data), 0o600))
}

var prevHash = regexp.MustCompile(`"prev":"[0-9a-f]{64}"`)

func forged(manifest []byte, name string, data []byte) []byte {
	entry := regexp.MustCompile(`"name":"` + regexp.QuoteMeta(name) + `","bytes":\d+,"sha256":"[0-9a-f]{64}"`)
	fits := fmt.Appendf(nil, `"name":"%s","bytes":%d,"sha256":"%x"`, name, len(data), sha256.Sum256(data))
	var out [][]byte
	for i, line := range bytes.Split(bytes.TrimSuffix(manifest, []byte("\n")), []byte("\n")) {
		line = entry.ReplaceAll(line, fits)
		if i > 0 {
			line = prevHash.ReplaceAll(line, fmt.Appendf(nil, `"prev":"%x"`, sha256.Sum256(out[i-1])))
		}
		out = append(out, line)
	}
	return append(bytes.Join(out, []byte("\n")), '\n')
}
