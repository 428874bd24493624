package indexbench

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

const transcript = "transcript-pre-compact-001.jsonl"

// data is a session of a given number of turns, as an archive on disk and as a
// database.
type data struct {
	turns   int
	archive *fs.Archive
	table   *turnindex.Table
	db      *bbolt.DB
	refs    []string // of the observations of some turns
}

// turns returns the default number of turns.
func turns() int {
	if n, err := strconv.Atoi(os.Getenv("COMPACT_BENCH_TURNS")); err == nil && n > 0 {
		return n
	}
	return 1_000_000
}

// build makes both, and reports their time and size.
func build(tb testing.TB, turns int) *data {
	dir := tb.TempDir()
	d := &data{turns: turns}
	lines, records := session(tb, d)
	var err error
	if d.archive, err = fs.Open(filepath.Join(dir, "archive")); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = d.archive.Close() })
	index := d.archiveAll(tb, lines, records)
	sorted := pairs(records)
	started := time.Now()
	d.db = load(tb, filepath.Join(dir, "bolt.db"), sorted)
	tb.Cleanup(func() { _ = d.db.Close() })
	info, err := os.Stat(filepath.Join(dir, "bolt.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Logf("bbolt:     %d records in %d MB, built in %v", len(records), info.Size()/1e6, time.Since(started).Round(time.Millisecond))
	tb.Logf("turnindex: %d records in %d MB", index.Len(), index.Size()/1e6)
	return d
}

// session returns turns of one action and one observation.
func session(tb testing.TB, d *data) ([]redact.Text, []turnindex.Record) {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		tb.Fatal(err)
	}
	lines := make([]redact.Text, 0, 2*d.turns)
	records := make([]turnindex.Record, 0, 6*d.turns)
	off := int64(0)
	for i := range 2 * d.turns {
		var body string
		slot := turnindex.Action + turnindex.Slot(i%2)
		if slot == turnindex.Action {
			body = fmt.Sprintf(`"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"f%d.go\"}"}}]`, i/2, i/2)
		} else {
			body = fmt.Sprintf(`"role":"tool","tool_call_id":"c%d","content":"package f%d"`, i/2, i/2)
		}
		fp, ref := sha256.Sum256([]byte(body)), sha256.Sum256([]byte("part of "+body))
		line := r.Text(fmt.Sprintf(`{%s,"meta":{"fp":"%x","refs":["%x"]}}`, body, fp[:16], ref[:6]))
		rec := turnindex.Record{Slot: slot, Shown: turnindex.Masked, File: transcript, Off: off, Len: int64(line.Len())}
		for _, k := range []turnindex.Key{turnindex.Turn(uint32(i/2 + 1)), turnindex.Message([16]byte(fp[:16])), turnindex.Part([6]byte(ref[:6]))} {
			rec.Key = k
			records = append(records, rec)
		}
		if slot == turnindex.Observation && len(d.refs) < 10_000 {
			d.refs = append(d.refs, fmt.Sprintf("%x", ref[:6]))
		}
		lines = append(lines, line)
		off += int64(line.Len()) + 1
	}
	return lines, records
}

func (d *data) archiveAll(tb testing.TB, lines []redact.Text, records []turnindex.Record) *turnindex.Table {
	ctx := tb.Context()
	s, err := record.OpenSession(ctx, d.archive, "s")
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := s.Transcript(ctx, 1, lines); err != nil {
		tb.Fatal(err)
	}
	started := time.Now()
	set := &turnindex.Set{}
	set.Cover(1, 1)
	for _, r := range records {
		if err := set.Add(r); err != nil {
			tb.Fatal(err)
		}
	}
	w, err := s.Index(ctx, 1, set)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Logf("turnindex: built and durable in %v", time.Since(started).Round(time.Millisecond))
	ledger := redact.Lit(`{"v":1,"step":1,"session":"s","archive":"transcript-pre-compact-001.jsonl","index":{"file":"turns-001.idx","first":1}}`)
	if _, err := s.Commit(ctx, 1, ledger); err != nil {
		tb.Fatal(err)
	}
	if d.table, err = s.OpenIndex(ctx, w.Key.Base()); err != nil {
		tb.Fatal(err)
	}
	return d.table
}

var bucket = []byte("turns")

// pair is an entry of the database.
type pair struct{ key, value []byte }

// pairs returns the records for the database in the order of their keys, in
// which it is filled fastest.
func pairs(records []turnindex.Record) (out []pair) {
	for _, r := range records {
		out = append(out, pair{key(r.Key), pack(r)})
	}
	slices.SortStableFunc(out, func(a, b pair) int { return bytes.Compare(a.key, b.key) })
	n := 0
	for _, p := range out {
		if n > 0 && bytes.Equal(out[n-1].key, p.key) {
			out[n-1].value = append(out[n-1].value, p.value...)
			continue
		}
		out[n] = p
		n++
	}
	return out[:n]
}

// load fills a database, in few transactions.
func load(tb testing.TB, file string, sorted []pair) *bbolt.DB {
	db, err := bbolt.Open(file, 0o600, nil)
	if err != nil {
		tb.Fatal(err)
	}
	for chunk := range slices.Chunk(sorted, 100_000) {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(bucket)
			if err != nil {
				return err
			}
			b.FillPercent = 0.9
			for _, p := range chunk {
				if err := b.Put(p.key, p.value); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return db
}

// key is as short as it can be, and orders turns by number.
func key(k turnindex.Key) []byte {
	text := k.String()
	if k.Digits() > 0 {
		b, _ := hex.DecodeString(text) // Key.String wrote it
		return b
	}
	n, _ := strconv.ParseUint(text[len("turn:"):], 10, 32)
	return binary.BigEndian.AppendUint32([]byte("t"), uint32(n))
}

func pack(r turnindex.Record) []byte {
	b := []byte{byte(r.Slot), byte(r.Shown), byte(r.Ord), 0}
	b = binary.BigEndian.AppendUint64(b, uint64(r.Off))
	return binary.BigEndian.AppendUint32(b, uint32(r.Len))
}

func unpack(k turnindex.Key, value []byte) (out []turnindex.Record) {
	for ; len(value) >= 16; value = value[16:] {
		out = append(out, turnindex.Record{
			Key: k, Slot: turnindex.Slot(value[0]), Shown: turnindex.Shown(value[1]), Ord: int(value[2]), File: transcript,
			Off: int64(binary.BigEndian.Uint64(value[4:])), Len: int64(binary.BigEndian.Uint32(value[12:])),
		})
	}
	return out
}

// get reads a key in the database.
func (d *data) get(k turnindex.Key) (out []turnindex.Record, err error) {
	err = d.db.View(func(tx *bbolt.Tx) error {
		out = unpack(k, tx.Bucket(bucket).Get(key(k)))
		return nil
	})
	slices.SortFunc(out, func(a, b turnindex.Record) int { return cmp.Compare(a.Slot, b.Slot) })
	return out, err
}
