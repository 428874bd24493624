package transport

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
)

// A usage is compared with the counts of the view that was sent. If the view could not be written,
// the body was sent unchanged, and the counts are those of another prompt.
func TestTheUsageOfAnUnwrittenViewIsNotRead(t *testing.T) {
	for name, c := range map[string]struct {
		x    exchange
		read bool
	}{
		"a view":           {exchange{res: &compact.Result{}}, true},
		"a failed call":    {exchange{unsent: &compact.Result{}}, true},
		"an unwritten one": {exchange{unsent: &compact.Result{}, unwritten: true}, false},
		"a later view":     {exchange{res: &compact.Result{}, unsent: &compact.Result{}, unwritten: true}, true},
		"no call":          {exchange{}, false},
	} {
		body := io.NopCloser(strings.NewReader("{}"))
		resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
		c.x.t = &Transport{}
		c.x.meter(resp)
		if _, read := resp.Body.(*meter); read != c.read {
			t.Errorf("%s: the usage is read: %v, want %v", name, read, c.read)
		}
	}
}
