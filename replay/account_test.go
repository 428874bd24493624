package replay

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// The texts of the archive that a page must not show, or must show as text.
var (
	secretKey = "AKIA" + "Q7ZK3MPL" + "W2XRT6NB"
	markup    = "<script>alert(1)</script>"
)

// archivedSession runs a session through a manager call by call, under two
// agents, and ends with a call that fails.
func archivedSession(t *testing.T, a storage.Archive, id string, began time.Time) {
	t.Helper()
	now := began
	m, err := compact.New(t.Context(), compact.Config{Archive: a, Model: "gpt-4o", MaxContextTokens: 8000, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	s := session("a", 60)
	s.Messages[3].Parts[0].Text = secretKey + " " + markup + " " + s.Messages[3].Parts[0].Text
	s.Messages = append(s.Messages[:40:40], append([]message.Message{
		message.Assistant("", message.Call("r1", "recall", `{"ref":"3f9a2c1b70de"}`)), message.ToolResult("r1", strings.Repeat("what was recalled ", 40)),
	}, s.Messages[40:]...)...)
	for _, at := range s.Calls() {
		now = now.Add(20 * time.Second)
		if _, err := m.Preflight(t.Context(), id, s.Messages[:at:at], compact.WithAgent("first")); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Hour)
	large := []message.Message{message.User(strings.Repeat("word ", 9000))}
	if _, err := m.Preflight(t.Context(), id, large, compact.WithAgent("second")); err == nil {
		t.Fatal("a message of 9,000 tokens fits 8,000")
	}
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

var beginning = time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)

func accountOf(t *testing.T, a storage.Archive, id string) *Account {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, id)
	if err != nil {
		t.Fatal(err)
	}
	x, err := ReadAccount(t.Context(), id, s, price.Card{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAccountDescribesTheArchive(t *testing.T) {
	a := memory.New()
	archivedSession(t, a, "job <7>", beginning)
	x := accountOf(t, a, "job <7>")
	if len(x.Calls) != 62 || len(x.Steps) < 3 || len(x.Errors) != 1 || len(x.Recalls) != 1 {
		t.Fatalf("%d calls, %d steps, %d errors, %d recalls", len(x.Calls), len(x.Steps), len(x.Errors), len(x.Recalls))
	}
	if c := x.Calls[60]; c.In <= c.Sent || c.Sent == 0 || c.Agent != "first" || c.Window != 8000 {
		t.Errorf("the last call but one: %+v", c)
	}
	if x.Calls[61].Failed != "InsufficientBudget" || x.Errors[0].Type != "InsufficientBudget" || x.Errors[0].Agent != "second" {
		t.Errorf("the failure: %+v, %+v", x.Calls[61], x.Errors[0])
	}
	if x.Recalls[0].Tokens == 0 || !strings.Contains(x.Recalls[0].Asked, "3f9a2c1b70de") {
		t.Errorf("the recall: %+v", x.Recalls[0])
	}
	in, sent := 0, 0
	for _, c := range x.Calls[:61] {
		in, sent = in+c.In, sent+c.Sent
	}
	if got := x.Sums(); got != (AccountSums{Calls: 61, Failed: 1, In: in, Sent: sent}) || x.Calls[61].Cost+x.Calls[61].Raw != 0 {
		t.Errorf("sums: %+v; the failed call costs %v", got, x.Calls[61].Cost)
	}
	if !x.Money.Priced || x.Money.Sent <= 0 || x.Money.Raw <= x.Money.Sent {
		t.Errorf("money: %+v", x.Money)
	}
	summaries, seen := 0, 0
	for _, s := range x.Steps {
		if s.Summary != "" {
			summaries++
		}
		if s.Reason == "" || len(s.Stages) == 0 || s.Missing != 0 || len(s.Gone) == 0 || s.At.Before(beginning) {
			t.Errorf("step %d: %+v", s.Step, s)
		}
		for _, g := range s.Gone {
			seen++
			if g.Role == "" || g.Tokens == 0 || len(g.Ref) != 12 || g.Role == "tool" && g.Tool == "" {
				t.Fatalf("step %d took out %+v", s.Step, g)
			}
		}
	}
	if summaries == 0 || seen < 20 {
		t.Errorf("%d summaries, %d removed messages", summaries, seen)
	}
}

func TestAccountPageShowsItsFacts(t *testing.T) {
	a := memory.New()
	archivedSession(t, a, "job <7>", beginning)
	x := accountOf(t, a, "job <7>")
	var b bytes.Buffer
	if err := x.WriteHTML(&b, "compactctl report 'job <7>'"); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		"Session job &lt;7&gt;", "COMPACT-SUMMARY", "InsufficientBudget", "Recalls", "3f9a2c1b70de", "estimated for the prompts sent", "projected for whole histories",
		"compactctl report &#39;job &lt;7&gt;&#39;", "REDACTED", x.Steps[0].Gone[0].Ref, fmt.Sprintf(`id="step-%d"`, len(x.Steps)), `href="#step-1"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, never := range []string{secretKey, markup, "http://", "https://", " src=", "@import"} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %q", never)
		}
	}
	all := pictures(t, page)
	if len(all) != 2 {
		t.Fatalf("%d pictures, want a wide and a narrow one", len(all))
	}
	for _, p := range all {
		if n := strings.Count(p, "<circle"); n != len(x.Steps)+1 || strings.Count(p, "<polyline") != 2 {
			t.Errorf("%d marks for %d steps and a failure", n, len(x.Steps))
		}
	}
	if seenIn := os.Getenv("COMPACT_ACCOUNT_PAGE"); seenIn != "" {
		if err := os.WriteFile(filepath.Clean(seenIn), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStatsAddUpTheSelectedSessions(t *testing.T) {
	a := memory.New()
	archivedSession(t, a, "one", beginning)
	archivedSession(t, a, "=two", beginning.Add(24*time.Hour))
	stats := func(f Filter) *Stats {
		s, err := ReadStats(t.Context(), a, f, price.Card{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	all := stats(Filter{})
	if len(all.Sessions) != 2 || all.Total.Calls != 124 || all.Total.In <= all.Total.Sent || all.Total.Failed != 2 || all.Total.Recalls != 2 {
		t.Errorf("all: %+v", all.Total)
	}
	if all.Total.Compactions != 2*len(accountOf(t, a, "one").Steps) || all.Total.Stages["mask"] == 0 || all.Total.Stages["summarize"] == 0 || all.Total.SentUSD <= 0 {
		t.Errorf("all: %+v", all.Total)
	}
	if late := stats(Filter{Since: beginning.Add(24 * time.Hour)}); len(late.Sessions) != 1 || late.Total.Calls != 62 || late.Total.Recalls != 1 || 2*late.Total.Compactions != all.Total.Compactions {
		t.Errorf("since: %+v", late.Total)
	}
	if ended := stats(Filter{Since: beginning.Add(24*time.Hour + 50*time.Minute)}); ended.Total.Calls != 1 || ended.Total.Recalls != 0 {
		t.Errorf("since the last call: %+v", ended.Total)
	}
	if first := stats(Filter{Agent: "first"}); first.Total.Recalls != 2 {
		t.Errorf("agent: %+v", first.Total)
	}
	if second := stats(Filter{Agent: "second"}); second.Total.Calls != 2 || second.Total.Failed != 2 || second.Total.Compactions != 0 || second.Total.Recalls != 0 {
		t.Errorf("agent: %+v", second.Total)
	}
	all.Total.Stages["polls"], all.Sessions[0].Stages["polls"] = 3, 3
	var b bytes.Buffer
	if err := all.WriteCSV(&b); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 4 || rows[3][0] != "all" || rows[3][1] != "124" || !regexp.MustCompile(`^'?=two$|^one$`).MatchString(rows[1][0]) {
		t.Errorf("%v, %v", rows, err)
	}
	for stage, n := range all.Total.Stages { // each has a column, also one of the callers' own
		if at := slices.Index(rows[0], "compactions_"+stage); at < 0 || rows[3][at] != strconv.Itoa(n) {
			t.Errorf("compactions of %s are in column %d of %v", stage, at, rows)
		}
	}
	for _, r := range rows {
		if strings.HasPrefix(r[0], "=") {
			t.Errorf("a spreadsheet would compute %q", r[0])
		}
	}
}

// Models without a list price have no figures in money, and an erased session has no
// account.
func TestAnAccountWithoutPricesOrCalls(t *testing.T) {
	a := memory.New()
	x := accountOf(t, a, "nobody")
	var b bytes.Buffer
	if err := x.WriteHTML(&b, ""); err != nil || len(x.Calls) != 0 || !strings.Contains(b.String(), "This session has no compactions.") {
		t.Errorf("%d calls, %v", len(x.Calls), err)
	}
	y := &Account{Calls: []AccountCall{{Model: "in-house-7b", In: 9, Sent: 9}}}
	y.price(price.Card{})
	if y.Money.Priced || y.Calls[0].Cost != 0 {
		t.Errorf("money of a model without prices: %+v", y.Money)
	}
}

// The provider's bill and the cost of summaries stand beside the estimates, under their
// own names.
func TestAccountIncludesMeasuredFigures(t *testing.T) {
	ctx := t.Context()
	a := memory.New()
	m, err := compact.New(ctx, compact.Config{Model: "claude-sonnet-4-5", Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(ctx, "s", []message.Message{message.User("go on with the work on the parser")})
	if err != nil {
		t.Fatal(err)
	}
	n := res.After.Total
	m.Observe(res, compact.Usage{PromptTokens: n, CacheKnown: true, OutputTokens: 1000})
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	s, err := ReadStats(ctx, a, Filter{}, price.Card{})
	if err != nil {
		t.Fatal(err)
	}
	want := (float64(n)*3 + 1000*15) / 1e6
	if got := s.Total; got.Measured != 1 || math.Abs(got.MeasuredUSD-want) > 1e-9 || got.SentUSD >= got.MeasuredUSD {
		t.Errorf("%+v, want %v measured", got, want)
	}
}
