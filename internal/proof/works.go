package proof

import (
	"fmt"
	"strings"
)

var (
	nouns  = []string{"parser", "ledger", "session", "budget", "router", "cache", "lease", "queue", "digest", "window", "anchor", "cursor", "reader", "quota", "shard", "token"}
	verbs  = []string{"open", "close", "merge", "split", "verify", "encode", "decode", "flush", "resume", "commit", "scan", "bind", "trim", "seal"}
	places = []string{"Lisbon", "Osaka", "Tromso", "Quito", "Leeds", "Pune", "Graz", "Accra", "Perth", "Cusco"}
)

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// coding returns an agent that fixes a repository.
func coding() work {
	return work{
		name:   "coding",
		system: "You are a coding agent. Work in small steps, run the tests, never touch generated files.",
		asks: []string{
			"The tests of the storage layer fail since yesterday. Find out why and fix it. Do not change the public API.",
			"Good. Now the same for what calls %s. Keep the old name as an alias.",
			"Before you go on: %s must stay below 50 lines. Then document it.",
			"Last: write the changelog, and name %s in it.",
		},
		says: []string{"I look at %s.", "The failure may come from %s, so I check who uses it.", "I change %s next to %s and run the tests.", "Now %s."},
		tools: []tool{
			{"read_file", "path", source}, {"read_file", "path", source}, {"grep", "pattern", matches}, {"run", "package", testRun}, {"edit_file", "path", edited},
		},
	}
}

func (w *writer) file() string {
	return fmt.Sprintf("internal/%s/%s_%s_%d.go", w.pick(nouns), w.pick(verbs), w.pick(nouns), w.IntN(900)+100)
}

func (w *writer) function() string {
	return title(w.pick(verbs)) + title(w.pick(nouns)) + fmt.Sprint(w.IntN(90)+10)
}

func source(w *writer) (string, []string) {
	file := w.file()
	names, b := []string{file}, &strings.Builder{}
	fmt.Fprintf(b, "// %s\npackage %s\n\n", file, w.pick(nouns))
	for range 36 {
		f := w.function()
		fmt.Fprintf(b, "// %s is called by %s and returns an error when the %s is gone.\nfunc %s(ctx context.Context, id string) (*%s, error) {\n\tx, err := s.%s(ctx, id)\n\tif err != nil {\n\t\treturn nil, fmt.Errorf(\"%s %%s: %%w\", id, err)\n\t}\n\treturn x.%s(), nil\n}\n\n",
			f, w.function(), w.pick(nouns), f, title(w.pick(nouns)), w.pick(verbs), w.pick(nouns), title(w.pick(verbs)))
		names = append(names, f)
	}
	return b.String(), names[:6]
}

func matches(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	for range 68 {
		file, f := w.file(), w.function()
		fmt.Fprintf(b, "%s:%d:\treturn s.%s(ctx, %q)\n", file, w.IntN(800)+1, f, w.hex(8))
		names = append(names, file, f)
	}
	return b.String(), names[:8]
}

func testRun(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	for i := range 60 {
		test := "Test" + w.function()
		if i%9 == 4 {
			file := w.file()
			fmt.Fprintf(b, "--- FAIL: %s (0.0%ds)\n    %s:%d: got %s, want %s\n", test, w.IntN(9), file, w.IntN(300)+1, w.hex(12), w.hex(12))
			names = append(names, test, file)
			continue
		}
		fmt.Fprintf(b, "--- PASS: %s (0.0%ds)\n", test, w.IntN(9))
	}
	fmt.Fprintf(b, "FAIL\nexit status 1\n")
	return b.String(), names
}

func edited(w *writer) (string, []string) {
	file, f := w.file(), w.function()
	return fmt.Sprintf("Edited %s: %s now returns the error of the %s it could not %s.", file, f, w.pick(nouns), w.pick(verbs)), []string{file, f}
}

// support returns an agent that answers customers from their records.
func support() work {
	return work{
		name:   "support",
		system: "You are a support agent. Never promise a refund above 200 EUR. Look everything up before you answer.",
		asks: []string{
			"My parcel has not come and I was charged twice. I need it before Friday, at the old address.",
			"And what of the order %s? I never got a bill for it.",
			"No, not a voucher: I want the money back on the card that I paid %s with.",
			"Fine. Please send me one mail with all of it, and leave %s out.",
		},
		says: []string{"I look up %s.", "That is in the record of %s; I check the carrier.", "I compare %s with %s.", "Next, %s."},
		tools: []tool{
			{"get_orders", "customer", orders}, {"track", "parcel", tracked}, {"search_help", "about", helpPages}, {"get_orders", "customer", orders}, {"refund", "order", refunded},
		},
	}
}

func orders(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	b.WriteString("[")
	for i := range 34 {
		if i > 0 {
			b.WriteString(",\n ")
		}
		order, parcel := fmt.Sprintf("ORD-%06d", w.IntN(900_000)+100_000), fmt.Sprintf("PX%09d", w.IntN(900_000_000)+100_000_000)
		fmt.Fprintf(b, `{"order":%q,"parcel":%q,"city":%q,"amount_eur":%d.%02d,"state":%q,"sku":"SKU-%s","note":"left with the %s"}`,
			order, parcel, w.pick(places), w.IntN(400)+5, w.IntN(100), w.pick([]string{"paid", "shipped", "lost", "returned"}), w.hex(6), w.pick([]string{"neighbor", "porter", "shop"}))
		names = append(names, order, parcel)
	}
	return b.String() + "]", names[:8]
}

func tracked(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	for i := range 60 {
		scan := "SCAN-" + w.hex(8)
		fmt.Fprintf(b, "2026-0%d-%02d %02d:%02d  %-8s  depot %s-%d  %s  weight %d g\n", w.IntN(9)+1, w.IntN(28)+1, w.IntN(24), w.IntN(60), w.pick(places), w.pick(places), w.IntN(90)+10, scan, w.IntN(9000)+100)
		if i%8 == 0 {
			names = append(names, scan)
		}
	}
	return b.String(), names
}

func helpPages(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	for range 22 {
		page := fmt.Sprintf("help/%s-%s-%d", w.pick(verbs), w.pick(nouns), w.IntN(900)+100)
		fmt.Fprintf(b, "# %s\nA customer may %s a %s within %d days. After that the %s decides, and the form is F-%d. Parcels to %s take %d days longer; a claim needs the number on the label and a picture of it.\n\n",
			page, w.pick(verbs), w.pick(nouns), w.IntN(60)+7, w.pick(nouns), w.IntN(900)+100, w.pick(places), w.IntN(9)+1)
		names = append(names, page)
	}
	return b.String(), names[:5]
}

func refunded(w *writer) (string, []string) {
	claim := fmt.Sprintf("CLM-%07d", w.IntN(9_000_000)+1_000_000)
	return fmt.Sprintf(`{"claim":%q,"amount_eur":%d,"state":"waits for the carrier"}`, claim, w.IntN(190)+5), []string{claim}
}

// research returns an agent that reads and compares sources.
func research() work {
	return work{
		name:   "research",
		system: "You are a research agent. Name the source of every figure. Say so when two sources differ.",
		asks: []string{
			"How much water do the ten coastal cities lose in their pipes, and what has brought it down? Sources after 2020 only.",
			"Compare that with what %s says. Which of the two measured it itself?",
			"Leave out studies paid by suppliers. Does %s stand then?",
			"Write it up in ten sentences, and cite %s.",
		},
		says: []string{"I open %s.", "%s cites it; I read the original.", "The figure in %s differs from that in %s.", "Next I search for %s."},
		tools: []tool{
			{"open", "url", article}, {"open", "url", article}, {"search", "query", hits}, {"table", "source", figures},
		},
	}
}

func (w *writer) url() string {
	return fmt.Sprintf("https://%s-%s.example/%d/%s-%s", w.pick(nouns), w.pick(verbs), w.IntN(6)+2020, w.pick(nouns), w.hex(5))
}

func article(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	for range 38 {
		from, study := w.url(), fmt.Sprintf("WL-%d-%s", w.IntN(6)+2020, w.hex(4))
		fmt.Fprintf(b, "In %s the loss fell from %d.%d to %d.%d percent after the %s was replaced (study %s, %s). The authors warn that the %s of the %s was not measured twice.\n",
			w.pick(places), w.IntN(30)+20, w.IntN(10), w.IntN(15)+5, w.IntN(10), w.pick(nouns), study, from, w.pick(nouns), w.pick(nouns))
		names = append(names, from, study)
	}
	return b.String(), names[:6]
}

func hits(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	for i := range 30 {
		u := w.url()
		fmt.Fprintf(b, "%d. %s\n   %s of the %s in %s: what to %s first, and what it cost\n", i+1, u, title(w.pick(nouns)), w.pick(nouns), w.pick(places), w.pick(verbs))
		names = append(names, u)
	}
	return b.String(), names[:7]
}

func figures(w *writer) (string, []string) {
	b, names := &strings.Builder{}, []string{}
	b.WriteString("row id, city, year, loss_percent, liters_per_day, source\n")
	for range 34 {
		row := "row-" + w.hex(6)
		fmt.Fprintf(b, "%s, %s, %d, %d.%d, %d, %s\n", row, w.pick(places), w.IntN(6)+2020, w.IntN(40)+4, w.IntN(10), w.IntN(9_000_000)+100_000, w.hex(7))
		names = append(names, row)
	}
	return b.String(), names[:5]
}
