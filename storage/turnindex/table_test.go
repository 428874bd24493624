package turnindex_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/storage/turnindex"
)

// counting is a source that counts its reads.
type counting struct {
	data  []byte
	reads int
}

func (c *counting) read(ctx context.Context, off, n int64) ([]byte, error) {
	c.reads++
	return turnindex.Bytes(c.data)(ctx, off, n)
}

func open(t *testing.T, data []byte) *turnindex.Table {
	t.Helper()
	table, err := turnindex.Open(t.Context(), turnindex.Bytes(data))
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func add(t *testing.T, s *turnindex.Set, records ...turnindex.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
}

func lookup(t *testing.T, table *turnindex.Table, text string) []turnindex.Record {
	t.Helper()
	q, err := turnindex.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Lookup(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) > 0 && !table.Mentions(q) {
		t.Errorf("the filter does not know %s", text)
	}
	return got
}

func rows(n int) []turnindex.Record {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	var out []turnindex.Record
	off := int64(0)
	for i := range n {
		var fp [16]byte
		for k := range fp {
			fp[k] = byte(rng.Uint32())
		}
		r := turnindex.Record{File: "transcript-pre-compact-001.jsonl", Off: off, Len: 100 + int64(rng.IntN(900))}
		off += r.Len + 1
		r.Slot, r.Key = turnindex.Action+turnindex.Slot(i%2), turnindex.Turn(uint32(1+i/2))
		out = append(out, r)
		r.Key = turnindex.Message(fp)
		out = append(out, r)
		r.Key, r.Shown = turnindex.Part([6]byte(fp[3:])), turnindex.Masked
		out = append(out, r)
	}
	return out
}

func TestEveryRecordIsFoundByItsKeyAndNoneIsInvented(t *testing.T) {
	for _, n := range []int{0, 1, 57, 58, 1000, 20_000} {
		records := rows(n)
		var s turnindex.Set
		s.Cover(3, 4)
		add(t, &s, records...)
		table := open(t, s.Encode())
		if first, last := table.Steps(); first != 3 || last != 4 || table.Len() != len(records) {
			t.Fatalf("%d messages: steps %d to %d, %d records of %d", n, first, last, table.Len(), len(records))
		}
		for _, r := range records {
			if got := lookup(t, table, r.Key.String()); !slices.Contains(got, r) {
				t.Fatalf("%v: got %v", r, got)
			}
		}
		for i := range 1000 {
			if got := lookup(t, table, fmt.Sprintf("%016x", 0xabcdef0000000000+uint64(i)<<32)); len(got) != 0 {
				t.Fatalf("found %v, which was not added", got)
			}
		}
	}
}

func TestNinetyNineOfAHundredLookupsReadOnePage(t *testing.T) {
	for _, n := range []int{100, 1000, 3000, 11_000, 47_000} {
		var s turnindex.Set
		records := rows(n)
		add(t, &s, records...)
		src := &counting{data: s.Encode()}
		table, err := turnindex.Open(t.Context(), src.read)
		if err != nil {
			t.Fatal(err)
		}
		one := 0
		for _, r := range records {
			src.reads = 0
			if _, err := table.Lookup(t.Context(), r.Key.Query()); err != nil {
				t.Fatal(err)
			}
			if src.reads == 1 {
				one++
			}
		}
		t.Logf("%d records, %d bytes each in the file, %.2f %% of lookups read one page", len(records), len(src.data)/len(records), 100*float64(one)/float64(len(records)))
		if one*100 < 99*len(records) {
			t.Errorf("%d of %d lookups read one page", one, len(records))
		}
	}
}

func TestFilterRejectsAbsentKeys(t *testing.T) {
	var s turnindex.Set
	add(t, &s, rows(5000)...)
	table := open(t, s.Encode())
	wrong := 0
	const asked = 20_000
	for i := range asked {
		q := turnindex.Turn(uint32(1_000_000 + i)).Query()
		if table.Mentions(q) {
			wrong++
		}
	}
	t.Logf("%d of %d are taken for members", wrong, asked)
	if wrong*100 > asked {
		t.Errorf("more than one of a hundred")
	}
}

func TestLookupAcceptsEightDigits(t *testing.T) {
	var s turnindex.Set
	records := rows(3000)
	add(t, &s, records...)
	table := open(t, s.Encode())
	for _, r := range records {
		name := r.Key.String()
		if strings.HasPrefix(name, "turn:") {
			continue
		}
		for _, digits := range []int{8, 11, 12} {
			if got := lookup(t, table, strings.ToUpper(name[:digits])); !slices.Contains(got, r) {
				t.Fatalf("%s is not found by %d digits", name, digits)
			}
		}
		if got := lookup(t, table, name+strings.Repeat("0", 32-len(name))); r.Key.Digits() == 16 && !slices.Contains(got, r) {
			t.Fatalf("%s is not found by 32 digits", name)
		}
	}
}

func TestInvalidQueryIsRefused(t *testing.T) {
	for _, text := range []string{"", "1234567", "123456789abcdefg", strings.Repeat("a", 33), "turn:", "turn:0", "turn:-1", "turn:4294967296", "turn:1x", " 123456789", "../../etc/passwd"} {
		if _, err := turnindex.ParseQuery(text); !errors.Is(err, turnindex.ErrQuery) {
			t.Errorf("%q: %v, want ErrQuery", text, err)
		}
	}
}

func TestSameRecordsGiveTheSameBytes(t *testing.T) {
	var one, two turnindex.Set
	add(t, &one, rows(5000)...)
	add(t, &two, rows(5000)...)
	if !bytes.Equal(one.Encode(), two.Encode()) || !bytes.Equal(one.Encode(), one.Encode()) {
		t.Error("the bytes differ")
	}
}

func TestTheFirstRecordOfAKeyStays(t *testing.T) {
	newer := turnindex.Record{Key: turnindex.Turn(7), Slot: turnindex.Observation, Shown: turnindex.Masked, File: "new.jsonl", Off: 5, Len: 9}
	older := newer
	older.Shown, older.File = turnindex.InFull, "old.jsonl"
	second := older
	second.Ord = 1
	var s turnindex.Set
	add(t, &s, newer, older, second)
	if diff := cmp.Diff([]turnindex.Record{newer, second}, lookup(t, open(t, s.Encode()), "turn:7"), cmp.AllowUnexported(turnindex.Key{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Chains, duplicates and collisions of eight digits, in random mixtures.
func TestRandomSetsContainTheirRecords(t *testing.T) {
	sets := 40
	if os.Getenv("COMPACT_SOAK") != "" {
		sets = 2000
	}
	t.Logf("%d sets, seeds from 1", sets)
	for seed := range uint64(sets) {
		rng := rand.New(rand.NewPCG(seed+1, 7))
		records := randomRecords(rng)
		var s turnindex.Set
		add(t, &s, records...)
		src := &counting{data: s.Encode()}
		table, err := turnindex.Open(t.Context(), src.read)
		if err != nil {
			t.Fatal(err)
		}
		want := first(records)
		var all []turnindex.Record
		for r, err := range table.All(t.Context()) {
			if err != nil {
				t.Fatalf("seed %d: %v", seed+1, err)
			}
			all = append(all, r)
			if want[identity(r)] != r {
				t.Fatalf("seed %d: %v was not added, or not first", seed+1, r)
			}
		}
		if len(all) != len(want) {
			t.Fatalf("seed %d: %d records, want %d", seed+1, len(all), len(want))
		}
		for _, r := range want {
			if got := lookup(t, table, r.Key.String()); !slices.Contains(got, r) {
				t.Fatalf("seed %d: %v is not found", seed+1, r)
			}
		}
	}
}

func randomRecords(rng *rand.Rand) []turnindex.Record {
	n := rng.IntN(3000)
	keys := 1 + rng.IntN(max(n, 1)) // few keys: long chains
	hot := rng.IntN(4) == 0         // all of one bucket
	out := make([]turnindex.Record, n)
	for i := range out {
		id := uint64(rng.IntN(keys))
		var fp [16]byte
		for k := range 8 {
			fp[k] = byte(id * 0x9e3779b97f4a7c15 >> (8 * k))
		}
		if hot {
			copy(fp[:4], "same")
		}
		out[i] = turnindex.Record{
			Slot: turnindex.Slot(rng.IntN(5)), Shown: turnindex.Shown(rng.IntN(5)), Ord: rng.IntN(3),
			File: fmt.Sprintf("f%d.jsonl", rng.IntN(5)), Off: rng.Int64N(1 << 48), Len: int64(rng.IntN(4)),
		}
		switch rng.IntN(3) {
		case 0:
			out[i].Key = turnindex.Turn(uint32(id + 1))
		case 1:
			out[i].Key = turnindex.Message(fp)
		case 2:
			out[i].Key = turnindex.Part([6]byte(fp[:]))
		}
	}
	return out
}

// identity returns the fields by which Add recognizes a known record.
func identity(r turnindex.Record) turnindex.Record {
	r.Shown, r.File, r.Off = 0, "", 0
	if strings.HasPrefix(r.Key.String(), "turn:") {
		r.Len = 0
	}
	return r
}

func first(records []turnindex.Record) map[turnindex.Record]turnindex.Record {
	out := map[turnindex.Record]turnindex.Record{}
	for _, r := range records {
		if _, ok := out[identity(r)]; !ok {
			out[identity(r)] = r
		}
	}
	return out
}

func TestRecordsThatDoNotFitAreRefused(t *testing.T) {
	good := turnindex.Record{Key: turnindex.Turn(1), File: "f"}
	for name, change := range map[string]func(r *turnindex.Record){
		"offset":   func(r *turnindex.Record) { r.Off = 1 << 48 },
		"negative": func(r *turnindex.Record) { r.Off = -1 },
		"length":   func(r *turnindex.Record) { r.Len = 1 << 32 },
		"ordinal":  func(r *turnindex.Record) { r.Ord = 1 << 16 },
		"no file":  func(r *turnindex.Record) { r.File = "" },
		"name":     func(r *turnindex.Record) { r.File = strings.Repeat("f", 256) },
	} {
		r := good
		change(&r)
		var s turnindex.Set
		if err := s.Add(r); !errors.Is(err, turnindex.ErrLimit) || s.Len() != 0 {
			t.Errorf("%s: %v, %d records; want ErrLimit and 0", name, err, s.Len())
		}
	}
}

func TestSetCoversAllAnnouncedSteps(t *testing.T) {
	var s turnindex.Set
	s.Cover(5, 9)
	s.Cover(3, 4)
	if first, last := open(t, s.Encode()).Steps(); first != 3 || last != 9 {
		t.Errorf("steps %d to %d, want 3 and 9", first, last)
	}
}
