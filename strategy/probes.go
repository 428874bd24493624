package strategy

import (
	"net/url"
	"regexp"
	"strings"
)

// probes returns the requests by which a session tests an address: requests with
// different data to one address. Repeating them is the work itself. A request that
// is answered with the record that it created is not a probe.
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
var address = regexp.MustCompile(`https?://[^\s'"\\)]+`)

// probed returns the server that a command sends data to with curl, and the program
// there, "" if the command does something else, too, or the server returned a record.
func (c *Call) probed() string {
	cmd := c.Command()
	if !strings.Contains(cmd, "curl ") || len(cmd) > maxCommandLine || len(recordOf(body(c.Result))) > 0 {
		return ""
	}
	parts := effectParts(cmd)
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

// headers match the options of curl with which it sends headers, and keeps quiet.
var headers = regexp.MustCompile(` (?:-H|--header) (?:'[^']*'|"[^"]*"|\S+)| -(?:s|S|sS|k|i)\b`)

// maxRequest is the maximum length of a quoted request, in characters.
const maxRequest = 160

// withoutHeaders shortens a command of curl by what does not tell what is asked for,
// and returns how long it may be: of an address that is cut, the path and the query
// would be lost.
func withoutHeaders(cmd string) (short string, most int) {
	if !strings.HasPrefix(cmd, "curl ") || len(cmd) <= maxCommand {
		return cmd, maxCommand
	}
	return headers.ReplaceAllString(cmd, ""), maxRequest
}
