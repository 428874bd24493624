package configs

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/crypt"
)

// answering returns a server that always gives the same answer.
func answering(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// gone returns an address without a listener. A port that was free a moment ago may
// belong to a server of another test.
func gone() string { return "http://127.0.0.1:1" }

func probes(t *testing.T, text string, env ...string) []Probe {
	t.Helper()
	return Try(t.Context(), load(t, text, Environ(env), KeysOptional()), 20*time.Second)
}

const answer = `{"choices":[{"message":{"role":"assistant","content":"yes"},"finish_reason":"length"}]}`

// An archive depends on its own parts, and not on collectors and summarizers. Without them
// the exit status of validate-config --try is that of a failed archive.
func TestPartsOfAnArchiveAreStored(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "any")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "any")
	var c compact.StorageConfig
	c.Adapter, c.Bucket, c.Region, c.KMSKeyID, c.Spool = "s3", "b-1", "eu-1", "k", t.TempDir()
	c.ObjectLock.Mode, c.ObjectLock.Days = "governance", 1
	var what []string
	for _, tries := range [][]attempt{archiveTries(c), archiveTries(compact.StorageConfig{Adapter: "fs"}), archiveTries(compact.StorageConfig{Adapter: "own", Settings: 1})} {
		for _, a := range tries {
			for _, p := range a.named {
				what = append(what, p.What)
			}
		}
	}
	if fmt.Sprint(what) != "[bucket KMS key Object Lock spool archive archive]" {
		t.Errorf("the parts are %q", what)
	}
	for _, name := range append(what, "encryption") {
		if !(Probe{What: name}).Stored() {
			t.Errorf("an archive does not depend on its %s", name)
		}
	}
	for _, name := range []string{"collector", "Ariadne", "summarizer"} {
		if (Probe{What: name}).Stored() {
			t.Errorf("an archive depends on the %s", name)
		}
	}
}

func TestTryOpensTheConfiguredServices(t *testing.T) {
	dir := t.TempDir()
	urls := []string{answering(t, 200, "{}"), answering(t, 200, "{}"), answering(t, 200, `{"success":true,"count":0}`), answering(t, 200, answer), answering(t, 200, answer)}
	text := fmt.Sprintf("storage: {path: %q}\ntrace: {otlp_endpoint: %q, otlp_metrics_endpoint: %q, ariadne_url: %q}\nsummarizer: {model: m, base_url: %q}\noverrides: [{agent: a, summarizer: {model: small, base_url: %q}}]\n",
		filepath.Join(dir, "a", "archive"), urls[0], urls[1], urls[2], urls[3], urls[4])
	host := func(i int) string { return strings.TrimPrefix(urls[i], "http://") }
	wheres := []string{filepath.Join(dir, "a", "archive"), urls[0], urls[1], urls[2], "m at " + host(3), "small at " + host(4) + " of overrides[0]"}
	got := probes(t, text)
	var what []string
	for i, p := range got {
		what = append(what, p.What)
		if i < len(wheres) && p.Where != wheres[i] {
			t.Errorf("the %s is at %s, want %s", p.What, p.Where, wheres[i])
		}
		if !p.OK() || p.Did == "" || p.Advice != "" {
			t.Errorf("%+v", p)
		}
	}
	if fmt.Sprint(what) != "[archive collector collector Ariadne summarizer summarizer]" {
		t.Errorf("tried %v", what)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

// A failure states its cause, in one line without a secret, and how to fix it.
func TestTryReportsFailuresWithAdvice(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "any")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "s3cretOfAWS")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	bucket := func(endpoint string) string {
		return fmt.Sprintf("storage: {adapter: s3, bucket: b-1, path_style: true, timeout: 1s, kms_key_id: k, object_lock: {mode: governance, days: 1}, endpoint: %q}\n", endpoint)
	}
	const refusal = `<?xml version="1.0"?><Error><Code>%s</Code><Message>no</Message></Error>`
	for name, c := range map[string]struct{ text, what, err, advice string }{
		"a file in the way":                     {fmt.Sprintf("storage: {path: %q}\n", file), "archive", "not a directory", "a file has the name of the folder: name another folder in storage.path"},
		"no collector":                          {fmt.Sprintf("storage: {adapter: memory}\ntrace: {otlp_endpoint: %q}\n", gone()), "collector", "connection refused", "start the collector, or correct trace.otlp_endpoint (OTLP over HTTP, not gRPC)"},
		"no collector of metrics":               {fmt.Sprintf("storage: {adapter: memory}\ntrace: {otlp_metrics_endpoint: %q}\n", gone()), "collector", "connection refused", "start the collector, or correct trace.otlp_metrics_endpoint (OTLP over HTTP, not gRPC)"},
		"a collector that requires credentials": {fmt.Sprintf("storage: {adapter: memory}\ntrace: {otlp_endpoint: %q}\n", answering(t, 401, "")), "collector", "401", "set the headers that it requires in OTEL_EXPORTER_OTLP_HEADERS"},
		"another server":                        {fmt.Sprintf("storage: {adapter: memory}\ntrace: {otlp_endpoint: %q}\n", answering(t, 404, "")), "collector", "404", "the server does not accept OTLP over HTTP there: correct the port and the path of trace.otlp_endpoint"},
		"no Ariadne":                            {fmt.Sprintf("storage: {adapter: memory}\ntrace: {ariadne_url: %q}\n", gone()), "Ariadne", "connection refused", "start Ariadne, or correct trace.ariadne_url"},
		"another server instead of Ariadne":     {fmt.Sprintf("storage: {adapter: memory}\ntrace: {ariadne_url: %q}\n", answering(t, 200, "hello")), "Ariadne", "the answer is not Ariadne's", "start Ariadne, or correct trace.ariadne_url"},
		"no key":                                {fmt.Sprintf("storage: {adapter: memory}\nsummarizer: {model: m, base_url: %q}\n", answering(t, 401, `{"error":{"message":"Incorrect API key provided"}}`)), "summarizer", "Incorrect API key provided; the key came from OPENAI_API_KEY in the environment", "put a key of this server into OPENAI_API_KEY"},
		"no such model":                         {fmt.Sprintf("storage: {adapter: memory}\nsummarizer: {model: m, base_url: %q}\n", answering(t, 404, `{"error":{"message":"no such model"}}`)), "summarizer", "404", "correct summarizer.model, or the path of summarizer.base_url"},
		"no server of summaries":                {fmt.Sprintf("storage: {adapter: memory}\nsummarizer: {model: m, base_url: %q}\n", gone()), "summarizer", "connection refused", "start the server, or correct summarizer.base_url"},
		"no such bucket":                        {bucket(answering(t, 404, fmt.Sprintf(refusal, "NoSuchBucket"))), "bucket", "NoSuchBucket", "create the bucket, or correct storage.bucket"},
		"a bucket without access":               {bucket(answering(t, 403, fmt.Sprintf(refusal, "AccessDenied"))), "bucket", "AccessDenied", "give these credentials the permissions that docs/SECURITY.md lists, or correct storage.bucket and storage.prefix"},
		"other credentials":                     {bucket(answering(t, 403, fmt.Sprintf(refusal, "SignatureDoesNotMatch"))), "bucket", "SignatureDoesNotMatch", "these are not credentials of this server: correct them, or storage.endpoint"},
		"a KMS key that does not exist":         {bucket(answering(t, 400, fmt.Sprintf(refusal, "KMS.NotFoundException"))), "KMS key", "KMS.NotFoundException", "correct storage.kms_key_id, and let these credentials use the key (kms:GenerateDataKey, kms:Decrypt)"},
		"an unreachable bucket":                 {bucket(gone()), "bucket", "cannot be reached", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var failed []Probe
			for _, p := range probes(t, c.text, "OPENAI_API_KEY=sk-hunter2hunter2hunter2") {
				if p.Err != nil {
					failed = append(failed, p)
				}
			}
			if len(failed) != 1 || failed[0].What != c.what || !strings.Contains(failed[0].Err.Error(), c.err) || failed[0].Advice != c.advice {
				t.Fatalf("%+v\nwant %s, %s, %s", failed, c.what, c.err, c.advice)
			}
			if said := fmt.Sprint(failed[0].Err); c.what == "KMS key" && said != c.err+": no" || c.what == "bucket" && c.advice != "" && said != c.err+": no" {
				t.Errorf("the server's message is %q", said)
			}
			if said := fmt.Sprint(failed[0].Err); strings.Contains(said, "hunter2") || strings.Contains(said, "s3cret") || strings.Contains(said, "\n") {
				t.Errorf("the advice is: %s", said)
			}
		})
	}
}

// An identity that belongs to no recipient is reported once in every store, even before
// anything was written.
func TestTryReportsAnIdentityWithoutARecipient(t *testing.T) {
	identity, _, err := crypt.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	_, recipient, err := crypt.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	used := t.TempDir()
	writer, err := compact.New(t.Context(), load(t, fmt.Sprintf("storage: {path: %q, encrypt: {recipients: [%s]}}\n", used, recipient)))
	if err == nil {
		err = errors.Join(writer.Archive(t.Context(), "s", []message.Message{message.User("hello")}), writer.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(crypt.IdentityVariable, identity)
	for name, folder := range map[string]string{"a new folder": filepath.Join(t.TempDir(), "a"), "an empty folder": t.TempDir(), "an archive": used} {
		var failed []Probe
		for _, p := range probes(t, fmt.Sprintf("storage: {path: %q, encrypt: {recipients: [%s]}}\n", folder, recipient)) {
			if p.Err != nil {
				failed = append(failed, p)
			}
		}
		if len(failed) != 1 || failed[0].What != "encryption" || strings.Count(failed[0].Err.Error(), "no identity of") != 1 || !strings.Contains(failed[0].Advice, crypt.IdentityVariable) {
			t.Errorf("%s: %+v", name, failed)
		}
	}
}

// An agent would refuse to encrypt an archive that holds plain files, so Try fails too.
func TestTryReportsPlainFilesOfAnEncryptedArchive(t *testing.T) {
	identity, recipient, err := crypt.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	writer, err := compact.New(t.Context(), load(t, fmt.Sprintf("storage: {path: %q}\n", folder)))
	if err == nil {
		err = errors.Join(writer.Archive(t.Context(), "s", []message.Message{message.User("hello")}), writer.Close(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(crypt.IdentityVariable, identity)
	var failed []string
	for _, p := range probes(t, fmt.Sprintf("storage: {path: %q, encrypt: {recipients: [%s]}}\n", folder, recipient)) {
		if errors.Is(p.Err, crypt.ErrPlain) {
			failed = append(failed, p.What)
		} else if !p.OK() {
			t.Errorf("%+v", p)
		}
	}
	if fmt.Sprint(failed) != "[encryption]" {
		t.Errorf("failed: %v", failed)
	}
}

func TestTryReportsOnlyItsProbes(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "any")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "any")
	got := probes(t, fmt.Sprintf("storage: {adapter: s3, bucket: b-1, path_style: true, timeout: 1s, kms_key_id: k, object_lock: {mode: governance, days: 1}, endpoint: %q}\n",
		answering(t, 403, "")))
	if len(got) != 3 || got[0].Err == nil || got[1].Not == "" || got[2].Not == "" || got[1].OK() || got[1].Did != "" {
		t.Errorf("%+v", got)
	}
	if memory := probes(t, "storage: {adapter: memory}\n"); len(memory) != 1 || memory[0].Not == "" || memory[0].Err != nil {
		t.Errorf("%+v", memory)
	}
}

func TestTryEndsInTime(t *testing.T) {
	end := make(chan struct{})
	hung := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer hung.Close()
	defer close(end)
	c := load(t, fmt.Sprintf("storage: {adapter: memory}\ntrace: {otlp_endpoint: %q}\nsummarizer: {model: m, base_url: %q}\n", hung.URL, hung.URL))
	began := time.Now()
	for _, p := range Try(t.Context(), c, 200*time.Millisecond) {
		if p.Not == "" && (p.Err == nil || !strings.Contains(p.Err.Error(), "no answer within 200ms") || p.Advice == "") {
			t.Errorf("%+v", p)
		}
	}
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("Try took %s", took)
	}
}

func TestTryDetectsASpoolOfAnotherBucket(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "remote"), []byte("s3://other/place"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := compact.StorageConfig{Adapter: "s3", Bucket: "b-1", Endpoint: gone(), PathStyle: true, Timeout: time.Second, Spool: dir}
	got := Try(t.Context(), compact.Config{Storage: c}, 10*time.Second)
	if len(got) != 2 || got[1].What != "spool" || got[1].Err == nil || !strings.Contains(got[1].Err.Error(), "the spool of s3://other/place") {
		t.Errorf("%+v", got)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}
