package transport

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
)

// A request that ends before the provider got it is not billed, whatever ended it.
func TestARequestWithoutAProviderIsUnreached(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer cut.Close()
	proxy, err := url.Parse(gone.URL)
	if err != nil {
		t.Fatal(err)
	}
	for i, tc := range []struct {
		to    string
		proxy *url.URL
		want  bool
	}{
		{secure.URL, nil, true}, // its certificate is not trusted
		{"https" + plain.URL[len("http"):], nil, true},
		{gone.URL, nil, true},
		{secure.URL, proxy, true},
		{cut.URL, nil, false}, // the provider may have read the request
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			base := &http.Transport{Proxy: http.ProxyURL(tc.proxy)}
			defer base.CloseIdleConnections()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, tc.to, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := base.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			if unreached(err) != tc.want {
				t.Errorf("%v: %v, want %v", err, !tc.want, tc.want)
			}
		})
	}
}
