package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
)

func TestLinkKeepsEveryByteOfTheBody(t *testing.T) {
	prev := strings.Repeat("0a", 32)
	for body, want := range map[string]string{
		`{}`:                 `{"seq":7,"prev":"` + prev + `"}`,
		`{ }`:                `{"seq":7,"prev":"` + prev + `" }`,
		`{"a":1}`:            `{"seq":7,"prev":"` + prev + `","a":1}`,
		`{ "seq":1, "b":[]}`: `{"seq":7,"prev":"` + prev + `", "seq":1, "b":[]}`,
	} {
		line := link(7, prev, body)
		if line != want {
			t.Errorf("link(%s) = %s, want %s", body, line, want)
		}
		l, ok := parseLink([]byte(line))
		if !ok || l.seq != 7 || l.prev != prev || string(l.body()) != body {
			t.Errorf("%s comes back as %+v, %s, %v, want true", body, l, l.body(), ok)
		}
	}
}

func TestParseLinkRefusesIncompleteLinks(t *testing.T) {
	whole := link(12, strings.Repeat("0a", 32), `{"a":"b"}`)
	for i := range whole {
		if _, ok := parseLink([]byte(whole[:i])); ok {
			t.Errorf("the first %d bytes are mistaken for a line: %s", i, whole[:i])
		}
	}
	for _, change := range [][2]string{{"12", "012"}, {"12", "0"}, {"12", "-1"}, {"12", "99999999999999999999"}, {"0a", "0A"}, {"0a", "0g"}, {`{"seq"`, `{ "seq"`}, {`"a"`, `a`}} {
		line := strings.Replace(whole, change[0], change[1], 1)
		if _, ok := parseLink([]byte(line)); ok {
			t.Errorf("taken for a line: %s", line)
		}
	}
}

func FuzzLink(f *testing.F) {
	prev := strings.Repeat("0a", 32)
	for _, body := range []string{`{}`, `{ }`, `{"a":1}`, "{\t\"prev\":2}", `{"torn":{"bytes":3,"sha256":"x"}}`, "\x00", `{"seq":1,"prev":"x"}`} {
		f.Add(int64(3), []byte(body))
	}
	f.Add(int64(1), []byte(link(1, prev, `{"a":1}`)))
	f.Fuzz(func(t *testing.T, seq int64, data []byte) {
		if l, ok := parseLink(data); ok {
			if l.seq < 1 || !isHash(l.prev) || !json.Valid(l.body()) {
				t.Errorf("%q is mistaken for a line: %+v", data, l)
			}
			if again := link(l.seq, l.prev, string(l.body())); again != string(data) && !bytes.Contains(data, []byte(`",}`)) {
				t.Errorf("%q comes back as %q", data, again)
			}
		}
		if seq < 1 || checkBody(string(data)) != nil {
			return
		}
		l, ok := parseLink([]byte(link(seq, prev, string(data))))
		if !ok || l.seq != seq || l.prev != prev || !bytes.Equal(l.body(), data) {
			t.Errorf("body %q comes back as %q, %v, want true", data, l.body(), ok)
		}
	})
}

func TestFileNamesContainStepAndAttempt(t *testing.T) {
	for want, got := range map[string]string{
		"transcript-pre-compact-001.jsonl":   transcriptKind.file(1, 1),
		"transcript-pre-compact-001.2.jsonl": transcriptKind.file(1, 2),
		"originals-012.jsonl":                originalsKind.file(12, 1),
		"transcript-final-999.jsonl":         finalKind.file(999, 1),
		"summary-1000.json":                  summaryKind.file(1000, 1),
		"ledger-007.json":                    ledgerKind.file(7, 1),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for name, want := range map[string]int{
		"ledger-007.json": 7, "ledger-1000.json": 1000, "ledger-7.json": 0, "ledger-0007.json": 0, "ledger-000.json": 0, "ledger--01.json": 0,
		"ledger-007.2.json": 0, "ledger-007.jsonl": 0, "summary-007.json": 0, "ledger-": 0, "ledger-007": 0, "ledger-+07.json": 0,
	} {
		if got, ok := ledgerKind.number(name); got != want && ok || ok != (want > 0) {
			t.Errorf("number(%s) = %d, %v; want %d", name, got, ok, want)
		}
	}
}

// A line about incomplete bytes states how many they are.
func TestATornLineStatesItsBytes(t *testing.T) {
	for body, want := range map[string]bool{tornBody([]byte("half a li")): true, `{"torn":{"bytes":0,"sha256":"x"}}`: false, `{"torn":{}}`: false, `{"torn":7}`: false, `{"a":{"torn":{"bytes":3}}}`: false} {
		l, ok := parseLink([]byte(link(7, strings.Repeat("0a", 32), body)))
		if _, torn := l.torn(); !ok || torn != want {
			t.Errorf("%s: torn %v, want %v", body, torn, want)
		}
	}
}

// A record of edits is about the originals right before it. A record that can't be read
// ends their list, so that no later record is taken for theirs.
func TestAnUnreadableRecordOfEditsEndsItsOriginals(t *testing.T) {
	c := editsCheck{v: &verifier{opts: VerifyOptions{Edits: func(body []byte) ([]Ref, bool, error) {
		switch string(body) {
		case "record":
			return []Ref{{ID: "a", SHA256: hashOf([]byte(`"a"`))}}, true, nil
		case "unreadable":
			return nil, false, storage.ErrDamaged
		}
		return nil, false, nil
	}}}}
	for i, body := range []string{`"a"`, "unreadable", "record", `"a"`, "record"} {
		c.record(i+1, []byte(body), "")
	}
	got := c.v.report.Problems
	if len(got) != 2 || got[0].Line != 2 || got[1].Line != 3 || got[1].Kind != Removed {
		t.Errorf("problems %v", got)
	}
}
