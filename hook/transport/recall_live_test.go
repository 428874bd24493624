package transport

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// events returns n events of a stream of chat completions.
func events(n int) string {
	return strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"word\"}}]}\n\n", n)
}

const callBegins = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0}]}}]}\n\n"

// lively returns a stream of chat completions that is passed on as it arrives.
func lively(body io.Reader, most int) *live {
	return &live{a: &asking{x: &exchange{}}, d: chatDialect{}, body: io.NopCloser(body), most: most, cancel: func() {}}
}

// A live stream stores only the part from which a recall call may still have to be
// removed.
func TestLiveStreamKeepsABoundedPart(t *testing.T) {
	const most = 64 << 10
	for name, text := range map[string]string{
		"events":                   events(40_000),
		"a call that is held":      events(10) + callBegins + events(40_000),
		"an event that never ends": "data: " + strings.Repeat("x", 1<<20),
	} {
		l := lively(strings.NewReader(text), most)
		var got strings.Builder
		p := make([]byte, 1000)
		for {
			n, err := l.Read(p)
			got.Write(p[:n])
			if kept := cap(l.raw); kept > 2*most+8192 || got.Len() > 4*most && kept > 8*4096 {
				t.Fatalf("%s: %d bytes are kept after %d", name, kept, got.Len())
			}
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				break
			}
		}
		if got.String() != text {
			t.Errorf("%s: %d bytes came through of %d", name, got.Len(), len(text))
		}
	}
}

// A connection breaks in the middle of an event. The caller gets all bytes up to there, as without
// the transport, but no part of a call that may be a recall.
func TestABrokenLiveStreamIsPassedOnToItsEnd(t *testing.T) {
	gone := errors.New("gone")
	for text, want := range map[string]string{
		events(2): events(2), events(2) + "data: {\"cho": events(2) + "data: {\"cho", events(2) + callBegins + "data: {\"cho": events(2),
	} {
		got, err := io.ReadAll(lively(io.MultiReader(strings.NewReader(text), iotest.ErrReader(gone)), 1<<20))
		if !errors.Is(err, gone) || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
}

// The events of a stream are found for every division of the stream into pieces.
func TestLiveStreamFindsTheEndsOfEvents(t *testing.T) {
	for name, sep := range map[string]string{"line feeds": "\n\n", "carriage returns": "\r\n\r\n"} {
		text := strings.ReplaceAll(events(3), "\n\n", sep)
		l := lively(iotest.OneByteReader(strings.NewReader(text)), 1<<20)
		for l.ended == nil {
			l.fill()
			if whole := strings.LastIndex(string(l.raw), sep); whole >= 0 && l.ready != whole+len(sep) {
				t.Fatalf("%s: %d bytes of %d may be handed on", name, l.ready, whole+len(sep))
			}
		}
		if l.ready != len(text) {
			t.Errorf("%s: %d bytes of %d may be handed on", name, l.ready, len(text))
		}
	}
}

// The scanner reads each byte of an unfinished event once or twice, not again with
// every piece. An end that is placed in the part already read is not found.
func TestLiveStreamLooksAtAByteOnce(t *testing.T) {
	l := lively(strings.NewReader("data: "+strings.Repeat("x", 1<<20)), 1<<30)
	for l.ended == nil {
		l.fill()
		if at := len(l.raw) - 10; at > 0 {
			copy(l.raw[at:], "\n\n")
		}
	}
	if l.ready > 0 {
		t.Fatalf("%d bytes are looked at again", l.ready)
	}
}
