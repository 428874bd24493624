package token_test

import (
	"bytes"
	"fmt"
	"go/build"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
	"github.com/tiktoken-go/tokenizer"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/token"
)

const sampleSize = 500_000

// samples are about 500 kB of each kind of text, from recorded sessions, except
// for the code, which is from the Go library.
var samples = sync.OnceValue(func() map[string]string {
	var mixed, lines, wide strings.Builder
	for _, data := range corpus.Sessions(unskippable{}, "chat") {
		for line := range bytes.Lines(data) {
			m, err := openai.ParseMessage(bytes.TrimSpace(line))
			if err != nil {
				continue
			}
			if text := string(line); lines.Len() < sampleSize && strings.Contains(text, "tool_calls") {
				lines.WriteString(text)
			}
			for _, p := range m.Parts {
				if n := mixed.Len(); n < sampleSize && len(p.Text) < 20_000 && len(data)%7 == 0 {
					mixed.WriteString(p.Text)
				}
				if wide.Len() < sampleSize && isWide(p.Text) {
					wide.WriteString(p.Text)
				}
			}
		}
	}
	return map[string]string{"mixed": mixed.String(), "json": lines.String(), "cjk": wide.String(), "code": libraryCode()}
})

// unskippable is a test that is never skipped: without transcripts the samples are
// empty, and each benchmark skips itself.
type unskippable struct{ testing.TB }

func (unskippable) Helper()                   {}
func (unskippable) Skip(...any)               {}
func (unskippable) Skipf(string, ...any)      {}
func (unskippable) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

func isWide(text string) bool {
	n := 0
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			n += 3
		}
	}
	return 2*n > len(text)
}

func libraryCode() string {
	files, _ := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", "net", "http", "*.go"))
	var b strings.Builder
	for _, f := range files {
		if text, err := os.ReadFile(f); err == nil && b.Len() < sampleSize {
			b.Write(text)
		}
	}
	return b.String()
}

func sample(b *testing.B, kind string) string {
	b.Helper()
	text := samples()[kind]
	if len(text) < sampleSize/4 {
		b.Skip("no text of this kind; set COMPACT_TRANSCRIPTS to a folder of recorded sessions")
	}
	return text
}

// peers returns the counters to compare, for one encoding.
func peers(b *testing.B, encoding string) map[string]func(string) int {
	b.Helper()
	ours, err := token.ForEncoding(encoding)
	if err != nil {
		b.Fatal(err)
	}
	token.Load(ours)
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	reference, err := tiktoken.GetEncoding(encoding)
	if err != nil {
		b.Fatal(err)
	}
	other, err := tokenizer.Get(tokenizer.Encoding(encoding))
	if err != nil {
		b.Fatal(err)
	}
	return map[string]func(string) int{
		"compact":     ours.Count,
		"tiktoken-go": func(s string) int { return len(reference.EncodeOrdinary(s)) },
		"tokenizer":   func(s string) int { n, _ := other.Count(s); return n },
	}
}

// BenchmarkCount should be run with -count 7; read the figure cpuMB/s.
func BenchmarkCount(b *testing.B) {
	for _, kind := range []string{"mixed", "json", "code", "cjk"} {
		for _, encoding := range []string{token.CL100K, token.O200K} {
			for _, who := range []string{"compact", "tiktoken-go", "tokenizer"} {
				b.Run(kind+"/"+encoding+"/"+who, func(b *testing.B) {
					text := sample(b, kind)
					count := peers(b, encoding)[who]
					b.SetBytes(int64(len(text)))
					b.ReportAllocs()
					used := cputime.Used()
					for b.Loop() {
						count(text)
					}
					used = cputime.Used() - used
					b.ReportMetric(float64(len(text))*float64(b.N)/1e6/used.Seconds(), "cpuMB/s")
				})
			}
		}
	}
}

// firstCount makes the test binary measure one first count and exit: see
// BenchmarkFirstCount.
const firstCount = "COMPACT_FIRST_COUNT_OF"

func TestMain(m *testing.M) {
	if encoding := os.Getenv(firstCount); encoding != "" {
		text := samples()["mixed"]
		c, err := token.ForEncoding(encoding)
		if err != nil {
			panic(err)
		}
		begin := cputime.Used()
		token.Load(c)
		loaded := cputime.Used()
		c.Count(text)
		fmt.Println((loaded - begin).Microseconds(), (cputime.Used() - loaded).Microseconds())
		return
	}
	os.Exit(m.Run())
}

// BenchmarkFirstCount starts a process for every round. It unpacks a vocabulary
// and counts 500 kB that it has not seen. Run it with -benchtime 7x, and read the
// medians, in processor time.
func BenchmarkFirstCount(b *testing.B) {
	for _, encoding := range []string{token.CL100K, token.O200K} {
		b.Run(encoding, func(b *testing.B) {
			sample(b, "mixed")
			var load, count []float64
			for b.Loop() {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), firstCount+"="+encoding)
				out, err := cmd.Output()
				if err != nil {
					b.Fatal(err)
				}
				l, c, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
				load, count = append(load, millis(b, l)), append(count, millis(b, c))
			}
			slices.Sort(load)
			slices.Sort(count)
			b.ReportMetric(load[len(load)/2], "load-ms")
			b.ReportMetric(count[len(count)/2], "count-ms")
		})
	}
}

func millis(b *testing.B, micros string) float64 {
	n, err := strconv.Atoi(micros)
	if err != nil {
		b.Fatal(err)
	}
	return float64(n) / 1000
}

// BenchmarkSeenConversation computes the cost of 1,000 cached messages of 500
// bytes: under 100 µs.
func BenchmarkSeenConversation(b *testing.B) {
	e := estimator(b, "gpt-4o")
	msgs := make([]message.Message, 1_000)
	for i := range msgs {
		text := fmt.Sprint(i, strings.Repeat(" some text of a message", 500/23))
		switch i % 3 {
		case 0:
			msgs[i] = message.User(text)
		case 1:
			msgs[i] = message.Assistant("", message.Call(fmt.Sprint(i), "read", `{"text":"`+text+`"}`))
		default:
			msgs[i] = message.ToolResult(fmt.Sprint(i-1), text)
		}
	}
	e.Messages(msgs)
	b.ReportAllocs()
	for b.Loop() {
		e.Messages(msgs)
	}
}

func BenchmarkBreakdownOfASeenConversation(b *testing.B) {
	e := estimator(b, "gpt-4o")
	msgs := conversation(b)
	for len(msgs) < 1_000 {
		msgs = append(msgs, msgs[:8]...)
	}
	tools := []byte(weatherWires()["chat"])
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Breakdown(b.Context(), msgs, tools, nil); err != nil {
			b.Fatal(err)
		}
	}
}
