package turnindex_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage/turnindex"
)

// readAll opens an index and reads all of it.
func readAll(ctx context.Context, data []byte) (n int, err error) {
	table, err := turnindex.Open(ctx, turnindex.Bytes(data))
	if err != nil {
		return 0, err
	}
	for _, err := range table.All(ctx) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// written returns an index of n messages in the current form, and one of version 1,
// with the positions of their pages: the header first.
func written(t *testing.T, n int) map[string]*file {
	t.Helper()
	var s turnindex.Set
	add(t, &s, rows(n)...)
	old, err := os.ReadFile("testdata/version-1.idx")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*file{"version 1": paged(old), "version 2": paged(s.Encode())}
}

// file is an index with the beginnings of its pages, and its end.
type file struct {
	data []byte
	at   []int
}

// paged finds the existing pages of an index without the code under test.
func paged(data []byte) *file {
	le, f := binary.LittleEndian, &file{data, []int{0}}
	if len(data) < 48 {
		return f
	}
	if le.Uint16(data[8:]) == 1 {
		for at := 4096; at <= len(data); at += 4096 {
			f.at = append(f.at, at)
		}
		return f
	}
	end, pages := uint64(le.Uint32(data[12:])), uint64(le.Uint32(data[16:]))+uint64(le.Uint32(data[20:]))
	if end < 52 || end > uint64(len(data)) || pages > end-52 {
		return f
	}
	f.at = append(f.at, int(end))
	for _, n := range data[end-4-pages : end-4] {
		if end += 8 + 24*uint64(n) + 4; end > uint64(len(data)) {
			break
		}
		f.at = append(f.at, int(end))
	}
	return f
}

func TestEveryDamagedPageIsSeen(t *testing.T) {
	for name, f := range written(t, 400) {
		for at := 0; at < len(f.data); at += 97 {
			bad := bytes.Clone(f.data)
			bad[at] ^= 0x10
			if _, err := readAll(t.Context(), bad); !errors.Is(err, turnindex.ErrDamaged) {
				t.Fatalf("%s: byte %d: %v, want ErrDamaged", name, at, err)
			}
		}
		last := f.at[len(f.at)-2]
		for _, size := range []int{0, 1, 47, 52, f.at[1] - 1, f.at[1], last, len(f.data) - 1} {
			if _, err := readAll(t.Context(), f.data[:size]); !errors.Is(err, turnindex.ErrDamaged) {
				t.Errorf("%s: cut to %d bytes: %v, want ErrDamaged", name, size, err)
			}
		}
	}
	// Two pages of one size that changed places.
	old := written(t, 400)["version 1"].data
	swapped, last := bytes.Clone(old), len(old)-4096
	copy(swapped[last:], old[last-4096:last])
	copy(swapped[last-4096:last], old[last:])
	if _, err := readAll(t.Context(), swapped); !errors.Is(err, turnindex.ErrDamaged) {
		t.Errorf("two pages changed places: %v, want ErrDamaged", err)
	}
}

// resealed gives every page a valid checksum, so that the tests reach the checks after
// the checksum.
func (f *file) resealed(data []byte) []byte {
	out, le := bytes.Clone(data), binary.LittleEndian
	for n := range len(f.at) - 1 {
		page := out[f.at[n]:f.at[n+1]]
		end := len(page) - 4
		sum := crc32.Checksum(page[:end], crc32.MakeTable(crc32.Castagnoli))
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), le.AppendUint32(nil, uint32(n)))
		le.PutUint32(page[end:], sum)
	}
	return out
}

func TestForgedNumbersAreRefused(t *testing.T) {
	le := binary.LittleEndian
	for name, f := range written(t, 2000) {
		first := f.at[1]
		for what, forge := range map[string]func(b []byte){
			"version":               func(b []byte) { le.PutUint16(b[8:], 3) },
			"another version":       func(b []byte) { le.PutUint16(b[8:], 3-le.Uint16(b[8:])) },
			"length of the header":  func(b []byte) { le.PutUint32(b[12:], 1<<31) },
			"no header":             func(b []byte) { le.PutUint32(b[12:], 0) },
			"buckets":               func(b []byte) { le.PutUint32(b[16:], 1<<31) },
			"no buckets":            func(b []byte) { le.PutUint32(b[16:], 0) },
			"records":               func(b []byte) { le.PutUint64(b[24:], 5) },
			"files":                 func(b []byte) { le.PutUint32(b[40:], 1<<31) },
			"name of a file":        func(b []byte) { b[48] = 255; le.PutUint32(b[40:], 1<<15) },
			"filter":                func(b []byte) { le.PutUint32(b[44:], 1<<31) },
			"records of a page":     func(b []byte) { le.PutUint16(b[first:], 171) },
			"file of a record":      func(b []byte) { le.PutUint16(b[first+8+2:], 9) },
			"kind of a record":      func(b []byte) { b[first+8] = 0 },
			"fewer records in page": func(b []byte) { le.PutUint16(b[first:], le.Uint16(b[first:])-1) },
			"more records in page":  func(b []byte) { b[f.at[1]-5], b[f.at[1]-6] = 171, 171 },
			"a longer last page":    func(b []byte) { b[f.at[1]-5]++ },
		} {
			if name == "version 1" && strings.HasSuffix(what, " page") && what[0] != 'f' {
				continue // this index has no list of pages
			}
			bad := bytes.Clone(f.data)
			forge(bad)
			if _, err := readAll(t.Context(), f.resealed(bad)); !errors.Is(err, turnindex.ErrDamaged) {
				t.Errorf("%s: %s: %v, want ErrDamaged", name, what, err)
			}
		}
		bad := bytes.Clone(f.data)
		le.PutUint32(bad[first+4:], 1) // a chain that leads back
		table, seen := open(t, f.resealed(bad)), false
		for n := range uint32(2000) {
			_, err := table.Lookup(t.Context(), turnindex.Turn(n+1).Query())
			seen = seen || errors.Is(err, turnindex.ErrDamaged)
		}
		if !seen {
			t.Errorf("%s: a cyclic chain is not detected", name)
		}
	}
}

// An index of version 1 is read.
func TestVersion1IsRead(t *testing.T) {
	table := open(t, written(t, 1)["version 1"].data)
	if first, last := table.Steps(); first != 3 || last != 4 || table.Len() != 360 || table.Size() != int64(len(written(t, 1)["version 1"].data)) {
		t.Errorf("steps %d to %d, %d records, %d bytes; want 3, 4 and 360", first, last, table.Len(), table.Size())
	}
	for _, r := range rows(120) {
		if got := lookup(t, table, r.Key.String()); !slices.Contains(got, r) {
			t.Fatalf("%v: got %v", r, got)
		}
	}
}

// An index has at most 28 bytes for each record: 24 for the record itself, and its share
// of all other data.
func TestIndexIsAsLargeAsItsRecords(t *testing.T) {
	for _, n := range []int{20, 80, 400, 3000, 20_000} {
		var s turnindex.Set
		add(t, &s, rows(n)...)
		data := s.Encode()
		each := float64(len(data)) / float64(3*n)
		t.Logf("%d records: %.1f bytes each", 3*n, each)
		if each > 28 {
			t.Errorf("%d records: %.1f bytes each, want at most 28", 3*n, each)
		}
		if table := open(t, data); table.Size() != int64(len(data)) {
			t.Errorf("Size returned %d bytes, but the table has %d", table.Size(), len(data))
		}
	}
}

func TestErrorsOfTheSourceAreReturned(t *testing.T) {
	var s turnindex.Set
	add(t, &s, rows(100)...)
	data, broken := s.Encode(), errors.New("the network is down")
	down := false
	table, err := turnindex.Open(t.Context(), func(ctx context.Context, off, n int64) ([]byte, error) {
		if down {
			return nil, broken
		}
		return turnindex.Bytes(data)(ctx, off, n)
	})
	if err != nil {
		t.Fatal(err)
	}
	down = true
	if _, err := table.Lookup(t.Context(), turnindex.Turn(1).Query()); !errors.Is(err, broken) {
		t.Errorf("lookup: %v, want broken", err)
	}
	for _, err := range table.All(t.Context()) {
		if !errors.Is(err, broken) {
			t.Errorf("all: %v, want broken", err)
		}
	}
	if _, err := turnindex.Open(t.Context(), func(context.Context, int64, int64) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("open: %v, want broken", err)
	}
}

func FuzzPages(f *testing.F) {
	for _, n := range []int{0, 3, 70} {
		var s turnindex.Set
		for _, r := range rows(n) {
			_ = s.Add(r)
		}
		f.Add(s.Encode(), true)
		f.Add(s.Encode(), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed {
			data = paged(data).resealed(data)
		}
		table, err := turnindex.Open(t.Context(), turnindex.Bytes(data))
		if err != nil {
			if !errors.Is(err, turnindex.ErrDamaged) {
				t.Fatalf("open: %v, want ErrDamaged", err)
			}
			return
		}
		found := 0
		for r, err := range table.All(t.Context()) {
			if err != nil {
				if !errors.Is(err, turnindex.ErrDamaged) {
					t.Fatalf("all: %v, want ErrDamaged", err)
				}
				return
			}
			got, err := table.Lookup(t.Context(), r.Key.Query())
			if err != nil && !errors.Is(err, turnindex.ErrDamaged) {
				t.Fatalf("lookup: %v", err)
			}
			for _, g := range got {
				if g.Key != r.Key && (r.Key.Digits() == 0 || g.Key.Digits() == 0 || g.Key.String()[:12] != r.Key.String()[:12]) {
					t.Fatalf("asked for %s, got %s", r.Key, g.Key)
				}
			}
			if found++; found > 30 {
				return
			}
		}
	})
}
