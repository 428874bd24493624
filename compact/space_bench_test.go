package compact_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/message/openai"
)

// BenchmarkArchiveSpace compares the size of an archive on disk with the size of the
// history as JSON, for recorded sessions of 600 kB to 3 MB, with a call before each answer of
// the model. The metrics of_history are sums over the sessions; 1 would be the history
// alone.
func BenchmarkArchiveSpace(b *testing.B) {
	sessions := spacious(b, 5)
	for preset, window := range map[string]int{"economy": 200_000, "graduated": 128_000, "masking": 128_000, "gateway": 128_000} {
		b.Run(preset, func(b *testing.B) {
			var stored, history int64
			for b.Loop() {
				for _, s := range sessions {
					stored += archiveSize(b, preset, window, s)
					for i := range s {
						history += int64(len(openai.AppendMessage(nil, s[i]))) + 1
					}
				}
			}
			b.ReportMetric(float64(stored)/float64(history), "of_history")
		})
	}
}

// spacious returns the first sessions of the transcripts that have the size.
func spacious(b *testing.B, most int) (out [][]message.Message) {
	b.Helper()
	for _, data := range corpus.Sessions(b, "chat") {
		if len(data) < 600_000 || len(data) > 3_000_000 {
			continue
		}
		f, err := formats.Read("auto", data)
		if err != nil {
			b.Fatal(err)
		}
		if out = append(out, f.Messages()); len(out) == most {
			break
		}
	}
	return out
}

// archiveSize returns the bytes of the files of one session.
func archiveSize(b *testing.B, preset string, window int, history []message.Message) (size int64) {
	b.Helper()
	dir := b.TempDir()
	c, err := compact.Preset(preset)
	if err != nil {
		b.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Storage.Path = "claude-sonnet-4-5", window, dir
	m, err := compact.New(b.Context(), c)
	if err != nil {
		b.Fatal(err)
	}
	for n := range history {
		if history[n].Role != message.RoleAssistant {
			continue
		}
		if _, err := m.Preflight(b.Context(), "s", history[:n]); err != nil {
			b.Log(err)
		}
	}
	if err := m.Close(context.WithoutCancel(b.Context())); err != nil {
		b.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(dir, "s"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(path)
		size += info.Size()
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return size
}
