package replay

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// billed is a process that works on a session, with the bills of its calls.
type billed struct {
	t         *testing.T
	m         *compact.CompactManager
	agent     string
	calls     int
	measured  float64
	sent, raw float64 // as estimated in each call
	first     float64 // estimate of the first call
	history   []message.Message
}

func billing(t *testing.T, archive storage.Archive, agent string) *billed {
	t.Helper()
	c, err := compact.Preset("economy")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Archive, c.MaxContextTokens = "claude-sonnet-4-5", archive, 12_000
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return &billed{t: t, m: m, agent: agent, history: []message.Message{message.User("go on as " + agent)}}
}

// A request that the provider refuses, or answers with an error, was billed by nobody.
// The call that repeats it counts once.
func TestRefusedRequestsAreInNoSum(t *testing.T) {
	archive := memory.New()
	b := billing(t, archive, "one")
	once := func() *compact.Result {
		res, err := b.m.Preflight(t.Context(), "shared", b.history, compact.WithAgent("one"))
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	b.m.Refused(once(), compact.Refusal{Retried: true})
	b.m.Failed(once(), 529)
	b.goes(3)
	if err := b.m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStats(t.Context(), archive, Filter{}, price.Card{})
	if err != nil {
		t.Fatal(err)
	}
	if x := s.Total; x.Calls != 5 || x.Refused != 2 || math.Abs(x.SentUSD-b.sent) > 1e-9 || math.Abs(x.RawUSD-b.raw) > 1e-9 {
		t.Errorf("%+v, want $%v and $%v", x, b.sent, b.raw)
	}
	a := accountOf(t, archive, "shared")
	tokens := 0
	for _, c := range a.Calls[2:] {
		tokens += c.Sent
	}
	if x := a.Sums(); x.Calls != 3 || x.Refused != 2 || x.Sent != tokens || math.Abs(a.Money.Sent-b.sent) > 1e-9 {
		t.Errorf("%+v, $%v, want %d tokens and $%v", x, a.Money.Sent, tokens, b.sent)
	}
	var page strings.Builder
	if err := a.WriteHTML(&page, ""); err != nil || !strings.Contains(page.String(), "that the provider refused or answered with an error") {
		t.Error("the page does not report the failed calls")
	}
}

// goes makes calls. The provider bills the prompt of each call, and an answer of a
// hundred tokens.
func (b *billed) goes(calls int) {
	b.t.Helper()
	for range calls {
		res, err := b.m.Preflight(b.t.Context(), "shared", b.history, compact.WithAgent(b.agent))
		if err != nil {
			b.t.Fatal(err)
		}
		n := res.After.Total
		b.m.Observe(res, compact.Usage{PromptTokens: n, CacheKnown: true, CachedTokens: n / 2, WrittenTokens: n - n/2, OutputTokens: 100})
		b.m.Observe(res, compact.Usage{PromptTokens: n, CacheKnown: true, OutputTokens: 100}) // a repeated bill counts once
		b.measured += (float64(n/2)*0.3 + float64(n-n/2)*3.75 + 100*15) / 1e6
		b.sent, b.raw = b.sent+res.Bill.EstimatedUSD, b.raw+res.Bill.WholeUSD
		if b.calls++; b.calls == 1 {
			b.first = max(res.Bill.EstimatedUSD, res.Bill.WholeUSD)
		}
		id := fmt.Sprintf("c%d", b.calls)
		var text strings.Builder
		for k := range 100 {
			fmt.Fprintf(&text, "line %d of %s says this and that\n", k*k, id)
		}
		b.history = append(b.history, message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindToolCall, CallID: id, Name: "bash", Args: []byte(`{"command":"make ` + id + `"}`)}}},
			message.ToolResult(id, text.String()))
	}
}

func (b *billed) close() {
	if err := b.m.Close(context.Background()); err != nil {
		b.t.Error(err)
	}
}

func statsOf(t *testing.T, a storage.Archive) SessionStats {
	t.Helper()
	s, err := ReadStats(t.Context(), a, Filter{}, price.Card{})
	if err != nil {
		t.Fatal(err)
	}
	return s.Total
}

func wantBill(t *testing.T, got SessionStats, calls int, usd float64) {
	t.Helper()
	if got.Calls != calls || got.Measured != calls || math.Abs(got.MeasuredUSD-usd) > 1e-9 {
		t.Errorf("%d calls, %d of them measured at $%.6f; want %d at $%.6f", got.Calls, got.Measured, got.MeasuredUSD, calls, usd)
	}
}

// A resumed session does not bill earlier calls again, and each agent of a session
// gets its own bill.
func TestBillOfASessionIsTheSumOfItsProcesses(t *testing.T) {
	archive := memory.New()
	one, two := billing(t, archive, "one"), billing(t, archive, "two")
	one.goes(12)
	two.goes(3)
	one.goes(4)
	one.close()
	again := billing(t, archive, "one")
	again.history = one.history
	again.goes(6)
	two.goes(2)
	two.close()
	again.close()
	s, err := record.OpenSession(t.Context(), archive, "shared")
	if err != nil {
		t.Fatal(err)
	}
	got := statsOf(t, archive)
	bill, err := ReadBill(t.Context(), s, price.Card{})
	if err != nil || bill.Calls != got.Calls || bill.CallsMeasured != got.Measured || !bill.Priced || math.Abs(bill.Measured-got.MeasuredUSD)+math.Abs(bill.Sent-got.SentUSD)+math.Abs(bill.Raw-got.RawUSD) > 1e-9 {
		t.Errorf("the bill is %+v, %v; that of all sessions %+v", bill, err, got)
	}
	wantBill(t, got, 27, one.measured+two.measured+again.measured)
	// The provider's cache still has the requests of the agent's first process, which
	// the second process does not know.
	sent, raw := one.sent+two.sent+again.sent, one.raw+two.raw+again.raw
	warm := again.first
	if got.Compactions == 0 || math.Abs(got.SentUSD-sent) > warm || math.Abs(got.RawUSD-raw) > warm || got.SentUSD > sent || got.RawUSD > raw {
		t.Errorf("%d compactions, $%.6f of $%.6f; the processes estimated $%.6f of $%.6f, $%.6f of it for a cold cache", got.Compactions, got.SentUSD, got.RawUSD, sent, raw, warm)
	}
}

// If the process knew the provider's cache, the account has its prices: a compacted
// prompt keeps the cached part before the first change.
func TestAnAccountPricesAsTheProcessDid(t *testing.T) {
	for _, model := range []string{"claude-sonnet-4-5", "gpt-4o"} {
		archive := memory.New()
		c := compact.Config{Model: model, Archive: archive, MaxContextTokens: 12_000}
		m, err := compact.New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		history := []message.Message{message.System(strings.Repeat("the rules of the house ", 600)), message.User("go on")}
		var bill compact.SessionBill
		steps := 0
		for k := range 40 {
			res, err := m.Preflight(t.Context(), "s", history)
			if err != nil {
				t.Fatal(err)
			}
			bill, steps = res.Bill.Session, max(steps, res.Step)
			id := fmt.Sprintf("c%d", k)
			history = append(history, message.Assistant("", message.Call(id, "bash", `{}`)), message.ToolResult(id, strings.Repeat(id+" says this and that\n", 80)))
		}
		if err := m.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		got := statsOf(t, archive)
		if steps == 0 || math.Abs(got.SentUSD-bill.EstimatedUSD) > 1e-6 || math.Abs(got.RawUSD-bill.WholeUSD) > 1e-6 {
			t.Errorf("%s: %d steps, $%.6f of $%.6f; the process has $%.6f of $%.6f", model, steps, got.SentUSD, got.RawUSD, bill.EstimatedUSD, bill.WholeUSD)
		}
	}
}

// An archive stores a write and then returns an error, so the write is repeated.
func TestAnEventThatWasWrittenTwiceIsBilledOnce(t *testing.T) {
	archive := memory.New()
	one := billing(t, archive, "one")
	one.goes(5)
	one.close()
	s, err := record.OpenSession(t.Context(), archive, "shared")
	if err != nil {
		t.Fatal(err)
	}
	clean, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := statsOf(t, archive)
	var again []redact.Text
	for line, err := range s.EventLines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		again = append(again, clean.Record(line))
	}
	if err := s.Events(t.Context(), again); err != nil {
		t.Fatal(err)
	}
	got := statsOf(t, archive)
	wantBill(t, got, 5, one.measured)
	if math.Abs(got.SentUSD-want.SentUSD) > 1e-12 || got.Fallbacks != want.Fallbacks {
		t.Errorf("%+v, before %+v", got, want)
	}
}

const asProcess = "COMPACT_TEST_BILL"

// Processes that work on one session at once share its bill.
func TestBillOfASessionIsTheSumOfRealProcesses(t *testing.T) {
	if at := os.Getenv(asProcess); at != "" {
		dir, agent, _ := strings.Cut(at, "\n")
		b := billing(t, openFolder(t, dir), agent)
		b.goes(8)
		b.close()
		fmt.Printf("\nbilled=%s=\n", strconv.FormatFloat(b.measured, 'g', -1, 64))
		return
	}
	dir := t.TempDir()
	var all []*exec.Cmd
	var outs []*strings.Builder
	for _, agent := range []string{"one", "two", "three"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		var out strings.Builder
		cmd.Env = append(os.Environ(), asProcess+"="+dir+"\n"+agent)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		all, outs = append(all, cmd), append(outs, &out)
	}
	sum := 0.0
	for i, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v\n%s", err, outs[i])
		}
		parts := strings.Split(outs[i].String(), "=")
		usd := 0.0
		for k, p := range parts {
			if strings.HasSuffix(p, "billed") && k+1 < len(parts) {
				usd, _ = strconv.ParseFloat(parts[k+1], 64)
			}
		}
		if usd == 0 {
			t.Fatalf("no bill in\n%s", outs[i])
		}
		sum += usd
	}
	wantBill(t, statsOf(t, openFolder(t, dir)), 24, sum)
}

func openFolder(t *testing.T, dir string) storage.Archive {
	t.Helper()
	a, err := fs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The usage of a model with known ratios and unknown prices has a cost in no currency.
func TestRatiosOfPricesAreNotMoney(t *testing.T) {
	if card, _ := price.For("llama-9"); !card.Relative {
		t.Fatal(card)
	}
	archive := memory.New()
	m, err := compact.New(t.Context(), compact.Config{Model: "llama-9", MaxContextTokens: 100_000, Archive: archive})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(t.Context(), "s", []message.Message{message.User("go on")})
	if err != nil {
		t.Fatal(err)
	}
	m.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true, OutputTokens: 100})
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := statsOf(t, archive); got.Measured != 1 || got.MeasuredUSD != 0 || got.SentUSD != 0 || got.Unpriced != 1 {
		t.Errorf("%+v", got)
	}
}
