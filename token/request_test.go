package token

import (
	"encoding/base64"
	"testing"

	"github.com/agentcompact/compact/message"
)

// Requests with other messages, in another order or with other tools have other ids, even if
// the bytes of the tools are those of a message's fingerprint.
func TestRequestIDIdentifiesTheContent(t *testing.T) {
	a, b := message.User("a"), message.User("b")
	fp := a.Fingerprint()
	seen := map[message.Fingerprint]bool{}
	for i, id := range []message.Fingerprint{
		RequestID(nil, nil), RequestID([]message.Message{a}, nil), RequestID([]message.Message{a, b}, nil), RequestID([]message.Message{b, a}, nil),
		RequestID([]message.Message{a}, []byte("tool")), RequestID(nil, fp[:]),
	} {
		if seen[id] {
			t.Errorf("request %d has the id of another one", i)
		}
		seen[id] = true
	}
}

// A result without a name has the name of the call that it answers.
func TestToolNameFollowsTheCall(t *testing.T) {
	calls := map[string]string{}
	for _, c := range []struct {
		p    message.Part
		want string
	}{
		{message.Call("1", "bash", "{}"), "bash"},
		{message.Part{Kind: message.KindToolResult, CallID: "1"}, "bash"},
		{message.Part{Kind: message.KindToolResult, CallID: "1", Name: "own"}, "own"},
		{message.Part{Kind: message.KindToolResult, CallID: "2"}, "unknown"},
		{message.Part{Kind: message.KindText}, ""},
	} {
		if got, ok := toolName(&c.p, calls); got != c.want || ok != (c.want != "") {
			t.Errorf("%+v: %q, %v, want %q", c.p, got, ok, c.want)
		}
	}
}

// Only the headers of known formats state a size, and only in a data URL.
func TestPictureSizeIgnoresOtherBytes(t *testing.T) {
	webp := "RIFF....WEBPVP8X.........\x00\x00\x00\x01\x00\x00"
	jpeg := "\xff\xd8\xff\x01\x00\x03\xaa\xff\xc0\x00\x11\x08\x00\x14\x00\x1e\x03"
	for name, c := range map[string]struct {
		head string
		w, h int
	}{
		"webp":                     {webp, 12079, 1},
		"another container":        {"XXXX" + webp[4:], 0, 0},
		"another RIFF":             {webp[:8] + "WAVE" + webp[12:], 0, 0},
		"jpeg":                     {jpeg, 30, 20},
		"jpeg without a frame":     {jpeg[:7] + "\xff\xc4" + jpeg[9:], 0, 0},
		"jpeg, a segment in front": {"\xff\xd8\xff\xbf\x00\x09\x01\x02\x03\x04\x05\x06\x07" + jpeg[7:], 30, 20},
	} {
		w, h := pictureSize([]byte(c.head))
		if w2, h2 := dataURLSize("data:image/x;base64," + base64.StdEncoding.EncodeToString([]byte(c.head))); name != "webp" && (w != c.w || h != c.h) || w2 != w || h2 != h || name == "webp" && w == 0 {
			t.Errorf("%s: %d by %d, and %d by %d in a URL; want %d by %d", name, w, h, w2, h2, c.w, c.h)
		}
	}
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n....IHDR\x00\x00\x00\x02\x00\x00\x00\x03"))
	for url, want := range map[string]int{"data:image/png;base64," + png: 2, "data:image/png;base64" + png: 0, "https://x;base64," + png: 0, "data:image/png," + png: 0} {
		if w, _ := dataURLSize(url); w != want {
			t.Errorf("%.40s: the width is %d, want %d", url, w, want)
		}
	}
	for m, want := range map[message.Media]int{{Width: 3, Height: 4}: 3, {Width: 3, URL: "data:image/png;base64," + png}: 2, {Height: 4, URL: "data:image/png;base64," + png}: 2} {
		if w, _ := PictureSize(&m); w != want {
			t.Errorf("%+v: the width is %d, want %d", m, w, want)
		}
	}
}
