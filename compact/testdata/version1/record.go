//go:build ignore

// Record makes the archive of format version 1 that TestVersion1 reads: run it with
// the last commit that writes version 1 (b0cdbea), in this folder of that commit:
//
//	go run record.go
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/storage/fs"
)

// turns are the turns of a session with a secret in one result.
func turns(n int) []message.Message {
	history := []message.Message{message.System("Be brief."), message.User("Find the error. My number is +1 202 555 0143.")}
	for i := range n {
		id := fmt.Sprintf("call_%d", i)
		text := fmt.Sprintf("log %d\n", i) + strings.Repeat("INFO all is well\n", 60)
		if i == 3 {
			text = "API_KEY=" + strings.Repeat("a1B2", 10) + "\n" + text
		}
		history = append(history, message.Assistant("", message.Call(id, "read", `{"file":"app.log"}`)), message.ToolResult(id, text))
	}
	return history
}

func main() {
	ctx := context.Background()
	check(os.RemoveAll("archive"))
	a, err := fs.Open("archive")
	check(err)
	views := map[string][]string{} // SHA-256 of each
	run := func(name, session, preset string, lengths []int, options ...compact.Option) {
		c, err := compact.Preset(preset)
		check(err)
		c.Model, c.MaxContextTokens, c.Archive = "gpt-4", 8_000, a
		c.Redaction.PII = true
		if preset == "graduated" {
			c.Storage.Transcripts = "all"
		}
		m, err := compact.New(ctx, c)
		check(err)
		for _, n := range lengths {
			res, err := m.Preflight(ctx, session, turns(n), append(options, compact.WithRecall())...)
			check(err)
			var b bytes.Buffer
			for i := range res.Messages {
				b.Write(openai.AppendMessage(nil, res.Messages[i]))
				b.WriteByte('\n')
			}
			views[name] = append(views[name], fmt.Sprintf("%x", sha256.Sum256(b.Bytes())))
		}
		check(m.Close(ctx))
	}
	run("steps", "session-1", "graduated", []int{30, 60})
	run("edits", "session-2", "masking", []int{12, 16, 20})
	run("named", "ann@example.org", "graduated", []int{30}, compact.WithBranch(turns(0)[1].Fingerprint().String()))
	raw, err := json.MarshalIndent(views, "", " ")
	check(err)
	check(os.WriteFile("views.json", append(raw, '\n'), 0o644))
	check(pack("archive", "archive.tar.gz"))
	check(os.RemoveAll("archive"))
}

// pack puts a folder into one file.
func pack(folder, file string) error {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	t := tar.NewWriter(z)
	err := t.AddFS(os.DirFS(folder))
	return errors.Join(err, t.Close(), z.Close(), os.WriteFile(file, b.Bytes(), 0o644))
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
