package compact_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/trace"
)

// blank is a picture of 1280 by 800 pixels.
var blank = sync.OnceValues(func() (string, error) {
	var b strings.Builder
	err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1280, 800)))
	return b.String(), err
})

// shot returns a picture of 1280 by 800 pixels in base64, different for each n.
func shot(t *testing.T, n int) string {
	t.Helper()
	picture, err := blank()
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%sscreen %d", picture, n))
}

// screens returns a request with a given number of screenshots in tool results.
func screens(t *testing.T, n int) []byte {
	t.Helper()
	var b strings.Builder
	b.WriteString(`{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"Find the form."}`)
	for i := range n {
		fmt.Fprintf(&b, `,{"role":"assistant","content":[{"type":"tool_use","id":"t%[1]d","name":"look","input":{}}]},`+
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%[2]s"},"cache_control":{"type":"ephemeral"}}]}]}`, i, shot(t, i))
	}
	return []byte(b.String() + "]}")
}

func TestRemovedScreenshotIsArchivedAndNamed(t *testing.T) {
	body := screens(t, 24)
	req, err := anthropic.Wire.ParseRequest(body, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{Model: "claude-sonnet-4-5", MaxContextTokens: 32_000})
	res := r.preflight(req.Messages(), compact.WithRequest(req))
	if res.MaskedCount == 0 || res.SummarizedCount+res.DroppedCount > 0 || res.MaskedCount > 20 {
		t.Fatalf("%d masked, %d summarized, %d dropped, want at most 20", res.MaskedCount, res.SummarizedCount, res.DroppedCount)
	}
	out, err := req.Write(res.Messages, res.Sources)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out, []byte(shot(t, 0))) || !bytes.Contains(out, []byte(shot(t, 23))) {
		t.Error("want the oldest picture removed and the newest kept")
	}
	if a, b := bytes.Count(out, []byte(`"cache_control"`)), bytes.Count(body, []byte(`"cache_control"`)); a != b {
		t.Errorf("%d marks of the cache of %d are left", a, b)
	}
	text := res.Messages[2].Parts[1].Text
	_, tokens, size, ref, ok := message.ParseMediaText(text)
	if !ok || tokens < 1000 || size < len(shot(t, 0)) {
		t.Fatalf("%q, want the text of a picture with its tokens and bytes", text)
	}
	got, err := r.Recall(t.Context(), "s", ref)
	if err != nil || !strings.HasPrefix(got, "[image, image/png, 1280 by 800 pixels, ") {
		t.Errorf("%q, %v; want text that begins with %q and no error", got, err, "[image, image/png, 1280 by 800 pixels, ")
	}
	if !r.holdsText(shot(t, 0)) {
		t.Error("the archive lacks the bytes of the picture")
	}
	if report := r.verified(); !report.OK() {
		t.Errorf("%v, want no problems", report.Problems)
	}
	// Another process makes the same view of the same history, and a view of the first
	// process's view.
	other := newRig(t, compact.Config{Model: "claude-sonnet-4-5", MaxContextTokens: 32_000, Archive: r.archive})
	again := other.preflight(req.Messages(), compact.WithRequest(req))
	if two, err := req.Write(again.Messages, again.Sources); err != nil || !bytes.Equal(two, out) {
		t.Errorf("the view of another process differs: %v", err)
	}
	kept, err := anthropic.Wire.ParseRequest(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	third := other.preflight(kept.Messages(), compact.WithRequest(kept))
	if three, err := kept.Write(third.Messages, third.Sources); err != nil || !bytes.Equal(three, out) {
		t.Errorf("a view that comes back is changed: %v", err)
	}
}

func TestPicturesStayWhereMediaAreNotMasked(t *testing.T) {
	req, err := anthropic.Wire.ParseRequest(screens(t, 24), nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Mask.Media = "claude-sonnet-4-5", 32_000, false
	res := newRig(t, c).preflight(req.Messages(), compact.WithRequest(req))
	for _, m := range res.Messages {
		for _, p := range m.Parts {
			if _, _, _, _, ok := message.ParseMediaText(p.Text); ok {
				t.Fatalf("a picture is masked: %q", p.Text)
			}
		}
	}
	if res.SummarizedCount == 0 {
		t.Error("the step has no summary, although only a summary can reduce more")
	}
}

// screened returns a manager that masked screenshots.
func screened(t *testing.T) (*rig, *compact.Result) {
	t.Helper()
	req, err := anthropic.Wire.ParseRequest(screens(t, 24), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{Model: "claude-sonnet-4-5", MaxContextTokens: 32_000})
	return r, r.preflight(req.Messages(), compact.WithRequest(req))
}

// The event for pictures has their number and size. Pictures do not count as
// observations, and their bytes do not count as characters.
func TestPicturesAreDescribedAsPictures(t *testing.T) {
	r, res := screened(t)
	events := r.named(trace.NameMaskedObservations)
	if len(events) != 1 {
		t.Fatalf("%d events, want 1", len(events))
	}
	var e trace.MaskedObservations
	if err := json.Unmarshal([]byte(events[0].Data.String()), &e); err != nil {
		t.Fatal(err)
	}
	if e.MediaCount != res.MaskedCount || e.MediaBytes < e.MediaCount*len(shot(t, 0))*9/10 || len(e.MaskedIDs) != e.MediaCount {
		t.Errorf("%d pictures of %d bytes, %d ids; %d were masked", e.MediaCount, e.MediaBytes, len(e.MaskedIDs), res.MaskedCount)
	}
	if e.MaskedCount != 0 || e.MaskedChars != 0 || res.MaskedChars != 0 || e.VisibleCount != 24 || !strings.Contains(e.OutputText, "of media") {
		t.Errorf("reported as observations: %+v, %d characters, want 0", e, res.MaskedChars)
	}
}

// A message that was made in Go is archived with its sounds and files, and each part has
// its own reference.
func TestSoundsAndFilesMadeInGoAreArchived(t *testing.T) {
	dir := t.TempDir()
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.Archive, c.Storage.Transcripts = "gpt-4", mustOpen(t, dir), "all"
	m := newRig(t, c)
	history := []message.Message{{Role: message.RoleUser, Parts: []message.Part{
		{Kind: message.KindFile, Media: &message.Media{MIME: "application/pdf", Name: "plan.pdf", URL: "data:application/pdf;base64,QUJD"}},
		{Kind: message.KindText, Text: "the plan"},
		{Kind: message.KindAudio, Media: &message.Media{MIME: "audio/wav", URL: "data:audio/wav;base64,REVG"}},
	}}}
	if err := errors.Join(m.Archive(t.Context(), "s", history), m.Close(t.Context())); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(filepath.Join(dir, "s", "transcript-final-001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"plan.pdf", "QUJD", "REVG"} {
		if !strings.Contains(string(line), content) {
			t.Errorf("%s is not in %s", content, line)
		}
	}
	l, err := ledger.ParseLine(line)
	if err != nil || len(l.Refs) != 3 || len(l.Message.Parts) != 3 {
		t.Fatalf("%d references of %d parts, %v; want 3, 3 and no error", len(l.Refs), len(l.Message.Parts), err)
	}
	for i, p := range history[0].Parts {
		if text, ok := ledger.InLine(line, l.Refs[i]); !ok || (p.Kind == message.KindText) != (text == "the plan") {
			t.Errorf("the reference of part %d, of kind %s, leads to %q, %v", i, p.Kind, text, ok)
		}
	}
}
