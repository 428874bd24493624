package turnindex_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
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

func TestEveryDamagedPageIsSeen(t *testing.T) {
	var s turnindex.Set
	add(t, &s, rows(400)...)
	good := s.Encode()
	for at := 0; at < len(good); at += 97 {
		bad := bytes.Clone(good)
		bad[at] ^= 0x10
		if _, err := readAll(t.Context(), bad); !errors.Is(err, turnindex.ErrDamaged) {
			t.Fatalf("byte %d: %v, want ErrDamaged", at, err)
		}
	}
	for _, size := range []int{0, 1, 4095, 4096, len(good) - 4096, len(good) - 1} {
		if _, err := readAll(t.Context(), good[:size]); !errors.Is(err, turnindex.ErrDamaged) {
			t.Errorf("cut to %d bytes: %v, want ErrDamaged", size, err)
		}
	}
	swapped := bytes.Clone(good)
	last := len(good) - 4096
	copy(swapped[last:], good[last-4096:last])
	copy(swapped[last-4096:last], good[last:])
	if _, err := readAll(t.Context(), swapped); !errors.Is(err, turnindex.ErrDamaged) {
		t.Errorf("two pages changed places: %v, want ErrDamaged", err)
	}
}

// reseal gives every page the checksum that fits, so that what stands behind
// checksums is tried.
func reseal(data []byte) []byte {
	out := bytes.Clone(data)
	for n := 0; (n+1)*4096 <= len(out); n++ {
		page := out[n*4096:][:4096]
		sum := crc32.Checksum(page[:4092], crc32.MakeTable(crc32.Castagnoli))
		sum = crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), binary.LittleEndian.AppendUint32(nil, uint32(n)))
		binary.LittleEndian.PutUint32(page[4092:], sum)
	}
	return out
}

func TestForgedNumbersAreRefused(t *testing.T) {
	var s turnindex.Set
	add(t, &s, rows(2000)...)
	good := s.Encode()
	le := binary.LittleEndian
	pages := int(le.Uint32(good[12:]))
	for name, forge := range map[string]func(b []byte){
		"version":               func(b []byte) { le.PutUint16(b[8:], 2) },
		"header pages":          func(b []byte) { le.PutUint32(b[12:], 1<<31) },
		"buckets":               func(b []byte) { le.PutUint32(b[16:], 1<<31) },
		"no buckets":            func(b []byte) { le.PutUint32(b[16:], 0) },
		"records":               func(b []byte) { le.PutUint64(b[24:], 5) },
		"files":                 func(b []byte) { le.PutUint32(b[40:], 1<<31) },
		"name of a file":        func(b []byte) { b[48] = 255; le.PutUint32(b[40:], 40) },
		"filter":                func(b []byte) { le.PutUint32(b[44:], 1<<31) },
		"records of a page":     func(b []byte) { le.PutUint16(b[pages*4096:], 171) },
		"file of a record":      func(b []byte) { le.PutUint16(b[pages*4096+8+2:], 9) },
		"kind of a record":      func(b []byte) { b[pages*4096+8] = 0 },
		"fewer records in page": func(b []byte) { le.PutUint16(b[pages*4096:], le.Uint16(b[pages*4096:])-1) },
	} {
		bad := bytes.Clone(good)
		forge(bad)
		if _, err := readAll(t.Context(), reseal(bad)); !errors.Is(err, turnindex.ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", name, err)
		}
	}
	bad := bytes.Clone(good)
	le.PutUint32(bad[pages*4096+4:], uint32(pages)) // a chain that leads to itself
	table := open(t, reseal(bad))
	for n := range uint32(2000) {
		if _, err := table.Lookup(t.Context(), turnindex.Turn(n+1).Query()); errors.Is(err, turnindex.ErrDamaged) {
			return
		}
	}
	t.Error("a chain that leads to itself is not seen")
}

func TestErrorsOfTheSourceComeThrough(t *testing.T) {
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
		t.Errorf("lookup: %v", err)
	}
	for _, err := range table.All(t.Context()) {
		if !errors.Is(err, broken) {
			t.Errorf("all: %v", err)
		}
	}
	if _, err := turnindex.Open(t.Context(), func(context.Context, int64, int64) ([]byte, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("open: %v", err)
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
			data = reseal(data)
		}
		table, err := turnindex.Open(t.Context(), turnindex.Bytes(data))
		if err != nil {
			if !errors.Is(err, turnindex.ErrDamaged) {
				t.Fatalf("open: %v", err)
			}
			return
		}
		found := 0
		for r, err := range table.All(t.Context()) {
			if err != nil {
				if !errors.Is(err, turnindex.ErrDamaged) {
					t.Fatalf("all: %v", err)
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
