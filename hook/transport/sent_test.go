package transport

import "testing"

func TestSentRequestsKeepTheLastOfEachLane(t *testing.T) {
	request := func(text string) *sentRequest { return &sentRequest{body: []byte(text)} }
	a, b, c := lane{model: "a"}, lane{model: "b"}, lane{model: "c"}
	s := newSentRequests(10)
	holds := func(when string, l lane, want string) {
		t.Helper()
		got := ""
		if r := s.get(l); r != nil {
			got = string(r.body)
		}
		if got != want {
			t.Errorf("%s: lane %s holds %q, want %q", when, l.model, got, want)
		}
	}
	s.put(a, request("1234"))
	s.put(a, request("abcd"))
	s.put(b, request("efgh"))
	holds("a lane has one request", a, "abcd")
	s.drop(a, []byte("abcd"))
	s.drop(a, nil)
	holds("a refusal of another body of this length", a, "abcd")
	s.drop(b, s.get(b).body)
	holds("a refusal of the last body", b, "")
	s.put(b, request("efgh"))
	s.get(a)
	s.put(c, request("ijkl"))
	holds("the least recently used one is removed", b, "")
	holds("the others stay", a, "abcd")
	s.put(b, request("larger than all the room"))
	holds("one always stays", b, "larger than all the room")
	holds("without room for others", a, "")
	holds("without room for others", c, "")
	if s.bytes != len("larger than all the room") || s.order.Len() != 1 {
		t.Errorf("%d bytes of %d requests are counted", s.bytes, s.order.Len())
	}
	var none *sentRequests
	if none.get(a) != nil {
		t.Error("requests that are not remembered")
	}
}
