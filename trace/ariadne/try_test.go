package ariadne

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTryPostsAnEmptyBatch(t *testing.T) {
	said := `{"success":true,"count":0}`
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = r.URL.Path + " " + string(data)
		_, _ = io.WriteString(w, said)
	}))
	defer s.Close()
	if err := Try(t.Context(), s.URL); err != nil || body != `/ingest {"batch":[]}` {
		t.Errorf("%v, posted %s", err, body)
	}
	if said = "hello"; Try(t.Context(), s.URL) == nil {
		t.Error("another server is mistaken for an Ariadne")
	}
	if Try(t.Context(), "localhost") == nil {
		t.Error("an address that is not a URL is accepted")
	}
}
