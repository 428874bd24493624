package formats_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/formats"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// recorded maps prefixes of recorded sessions to formats.
var recorded = []struct{ prefix, format string }{
	{"cc-", "claude-code"}, {"codex-", "codex"}, {"gemini-", "gemini-cli"}, {"copilot-", "copilot"}, {"pi-", "pi"}, {"oc-", "opencode"},
	{"swe-", "swe-agent"}, {"mswe-", "mini-swe-agent"}, {"tau-", "tau-bench"}, {"tau2-", "tau2-bench"}, {"df-thread", "langgraph"}, {"oh-safety", "openhands"}, {"oh-mswb", "openhands"}, {"oh-sdk-", "openai"},
}

func formatOf(name string) string {
	for _, r := range recorded {
		if strings.HasPrefix(filepath.Base(name), r.prefix) {
			return r.format
		}
	}
	return ""
}

var seq = wiretest.Sources

func TestRecordedLogsAreFoundReadAndWrittenBack(t *testing.T) {
	found := map[string]int{}
	for name, data := range corpus.Raw(t, "") {
		if formatOf(name) == "" {
			continue
		}
		f, err := formats.Read("auto", data)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(name), err)
			continue
		}
		if f.Format() != formatOf(name) || len(f.Messages()) < 2 {
			t.Errorf("%s is read as %s: %d messages, want at least 2", filepath.Base(name), f.Format(), len(f.Messages()))
		}
		found[f.Format()]++
		out, err := f.Write(slices.Clone(f.Messages()), seq(len(f.Messages())))
		if err != nil || !bytes.Equal(out, data) {
			t.Errorf("%s: the written file differs from the read one; error %v", filepath.Base(name), err)
		}
		wiretest.Messages(t, f.Wire(), f.Messages())
		shrink(t, name, f, data)
	}
	t.Logf("%v", found)
}

// shrink masks every observation and removes a third of the rounds: the rest
// must be read unchanged.
func shrink(t *testing.T, name string, f *formats.File, data []byte) {
	t.Helper()
	var view []message.Message
	var sources []int
	msgs := f.Messages()
	rounds := message.Rounds(msgs)
	for k, round := range rounds {
		if k == len(rounds)/3 {
			view, sources = append(view, message.Assistant(message.SummaryText(1, "so far"))), append(sources, -1)
		}
		for i := round.Start; i < round.End; i++ {
			if k >= len(rounds)/3 && k < 2*len(rounds)/3 && !msgs[i].Protected {
				continue
			}
			m := msgs[i]
			for p := range m.Parts {
				if m.Parts[p].Kind == message.KindToolResult && m.Editable(p) {
					var err error
					if m, err = m.WithPartText(p, "[masked]"); err != nil {
						t.Fatal(err)
					}
				}
			}
			view, sources = append(view, m), append(sources, i)
		}
	}
	out, err := f.Write(view, sources)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	again, err := formats.Read(f.Format(), out)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	var got, want []string
	for _, m := range again.Messages() {
		for _, p := range m.Parts {
			got = append(got, p.Fingerprint().String())
		}
	}
	for _, m := range view {
		for _, p := range m.Parts {
			want = append(want, p.Fingerprint().String())
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d parts were written, and %d or other parts read back, of %d bytes", name, len(want), len(got), len(data))
	}
}
