package strategy

import (
	"net/url"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// probes returns the requests by which a session tests an address: several requests
// with different data to one address. Such a repetition is intended. A request is not a
// probe if its result is the record that it created.
func (h *History) probes() map[*Call]bool {
	byAddress, data := map[string][]*Call{}, map[string]map[string]bool{}
	h.eachCall(func(_ *Step, c *Call) {
		if address := c.probed(); address != "" {
			if data[address] == nil {
				data[address] = map[string]bool{}
			}
			data[address][c.Command()] = true
			byAddress[address] = append(byAddress[address], c)
		}
	})
	out := map[*Call]bool{}
	for address, calls := range byAddress {
		for _, c := range calls {
			out[c] = len(data[address]) > 1
		}
	}
	return out
}

// address matches an address in a command line.
var address = lazy.Compile(`https?://[^\s'"\\)]+`)

// probed returns the host and the path of the address to which a command sends a request
// with curl. It returns "" if the command also does other work, or if the server returned
// a record.
func (c *Call) probed() string {
	cmd := c.Command()
	if !strings.Contains(cmd, "curl ") || len(cmd) > shell.MaxLine || len(recordOf(body(c.Result))) > 0 {
		return ""
	}
	parts := effects.Parts(cmd)
	for _, part := range parts {
		if !strings.HasPrefix(part, "curl ") {
			return ""
		}
	}
	u, err := url.Parse(address.FindString(cmd))
	if err != nil || u.Host == "" || len(parts) == 0 {
		return ""
	}
	return u.Host + u.Path
}

// headers matches the options of curl for headers and for less output.
var headers = lazy.Compile(` (?:-H|--header) (?:'[^']*'|"[^"]*"|\S+)| -(?:s|S|sS|k|i)\b`)

// maxRequest is the maximum length of a quoted request, in characters.
const maxRequest = 160

// withoutHeaders removes the options from a long curl command that do not describe the
// request. It also returns the maximum length of the quoted command: a curl command may
// be longer than others, because a cut address would lose its path and query.
func withoutHeaders(cmd string) (short string, most int) {
	if !strings.HasPrefix(cmd, "curl ") || len(cmd) <= maxCommand {
		return cmd, maxCommand
	}
	return headers.ReplaceAllString(cmd, ""), maxRequest
}
