package replay

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const line = `{"role":"user","content":"hello"}` + "\n" + `{"role":"assistant","content":"hi"}` + "\n"

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func zipped(t *testing.T, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFilesOfFoldersAndPatterns(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.jsonl"), []byte(line))
	write(t, filepath.Join(dir, "sub", "b.jsonl.gz"), zipped(t, line))
	write(t, filepath.Join(dir, "README"), []byte("no session"))
	got, err := Files(filepath.Join(dir, "a.*"), dir)
	if err != nil || len(got) != 2 {
		t.Fatalf("Files = %v, %v", got, err)
	}
	for _, f := range got {
		s, err := Read(f, "auto")
		if err != nil || len(s.Messages) != 2 || len(s.Calls()) != 1 {
			t.Errorf("Read(%s) = %+v, %v", f, s, err)
		}
	}
	if _, err := Files(t.TempDir()); err == nil || !strings.Contains(err.Error(), ".traj") {
		t.Errorf("an empty folder: %v", err)
	}
	for _, none := range []string{filepath.Join(dir, "x*"), filepath.Join(dir, "missing"), t.TempDir()} {
		if _, err := Files(none); err == nil {
			t.Errorf("Files(%s) has no error", none)
		}
	}
}

func TestReadNamesFileAndLine(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.jsonl")
	write(t, cut, []byte(line+`{"role":"us`))
	s, err := Read(cut, "auto")
	if err != nil || len(s.Messages) != 2 || s.Flaw == nil || !strings.Contains(s.Flaw.Error(), "cut.jsonl:3: the last line is cut off") {
		t.Errorf("Read = %+v, %v, want the part before the cut, and file and line", s, err)
	}
	inside := filepath.Join(dir, "inside.jsonl")
	write(t, inside, []byte(line+`{"role":"us`+"\n"+line))
	if _, err := Read(inside, "auto"); err == nil || !strings.Contains(err.Error(), "inside.jsonl:3: ") {
		t.Errorf("Read = %v, want file and line", err)
	}
	strange := filepath.Join(dir, "strange.jsonl")
	write(t, strange, []byte(line+`{"role":"nobody","content":7}`))
	if _, err := Read(strange, "auto"); err == nil || !strings.Contains(err.Error(), "strange.jsonl:3: ") {
		t.Errorf("Read = %v, want file and line: the last line is whole, and no message", err)
	}
	broken := filepath.Join(dir, "cut.jsonl.gz")
	write(t, broken, zipped(t, strings.Repeat(line, 99))[:40])
	if _, err := Read(broken, "auto"); err == nil || !strings.Contains(err.Error(), "cut.jsonl.gz") {
		t.Errorf("Read = %v, want the file's name", err)
	}
}

func TestFileOfSeveralFormsIsReportedWithItsLine(t *testing.T) {
	const (
		user      = `{"role":"user","content":"hello"}`
		answer    = `{"role":"assistant","content":"hi"}`
		claude    = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]}}`
		gemini    = `{"role":"model","parts":[{"text":"hi"}]}`
		called    = `{"role":"assistant","content":"","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		block     = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"y"}]}`
		item      = `{"type":"function_call_output","call_id":"x","output":"z"}`
		itemCall  = `{"type":"function_call","call_id":"x","name":"f","arguments":"{}"}`
		cut       = `{"type":"assistant","message":{"role":"ass`
		noMessage = `{"type":"summary","summary":"fixes"}`
		claudeAsk = `{"type":"user","message":{"role":"user","content":"hello"}}`
	)
	for _, tc := range []struct {
		name  string
		lines []string
		err   string // "" = it is read
		flaw  string
	}{
		{"chat then a log", []string{user, answer, claude}, ":3: this line has the format claude-code", ""},
		{"a log then chat", []string{claudeAsk, claude, answer}, ":3: this line has the format openai or anthropic or responses, and earlier lines have claude-code", ""},
		{"chat then gemini", []string{user, answer, gemini}, ":3: this line has the format gemini", ""},
		{"calls then blocks", []string{user, called, block}, ":3: this line has the format anthropic, and earlier lines have openai", ""},
		{"calls then items", []string{user, called, item}, ":3: this line has the format responses", ""},
		{"items with plain messages", []string{user, itemCall, item, answer}, "", ""},
		{"a log with other lines", []string{noMessage, claudeAsk, claude}, "", ""},
		{"a log that is cut off", []string{claudeAsk, claude, cut}, "", ":3: the last line is cut off"},
	} {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		write(t, path, []byte(strings.Join(tc.lines, "\n")))
		s, err := Read(path, "auto")
		switch {
		case tc.err != "":
			if err == nil || !strings.Contains(err.Error(), "x.jsonl"+tc.err) {
				t.Errorf("%s: Read = %v, want %q", tc.name, err, tc.err)
			}
		case err != nil:
			t.Errorf("%s: Read = %v", tc.name, err)
		case (s.Flaw == nil) != (tc.flaw == "") || s.Flaw != nil && !strings.Contains(s.Flaw.Error(), "x.jsonl"+tc.flaw):
			t.Errorf("%s: the flaw is %v, want %q", tc.name, s.Flaw, tc.flaw)
		}
	}
}

func TestCutGzipFileReportsItsReadablePart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl.gz")
	var lines strings.Builder
	for i := range 3000 {
		lines.WriteString(strings.Replace(line, "hello", strings.Repeat(string(rune('a'+i%26)), i%97), 1))
	}
	data := zipped(t, lines.String())
	write(t, path, data[:len(data)/2])
	s, err := Read(path, "auto")
	if err != nil || len(s.Messages) < 100 || s.Flaw == nil || !regexp.MustCompile(`x\.jsonl\.gz:\d{2,}: the compressed file is cut off here`).MatchString(s.Flaw.Error()) {
		t.Errorf("Read = %+v, %v", s, err)
	}
}
