package replay

import (
	"fmt"
	"strconv"
	"strings"
)

// References returns example names of the references.
func References() []string { return []string{"raw", "sliding:10", "drop:6", "summarize:0.85"} }

// ParseReference returns the reference policy with a name; ok is false if there is no
// such policy. The error reports an invalid number.
func ParseReference(name string) (p Policy, ok bool, err error) {
	kind, number, given := strings.Cut(name, ":")
	switch kind {
	case "raw":
		if given {
			return nil, true, fmt.Errorf("raw takes no number (got %q)", name)
		}
		return Raw(), true, nil
	case "sliding", "drop":
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return nil, true, fmt.Errorf("%s wants a number of turns, %s:10 for example (got %q)", kind, kind, name)
		}
		if kind == "drop" {
			return DropOldest(n), true, nil
		}
		return Sliding(n), true, nil
	case "summarise", "summarize": // the first is the spelling of versions before 0.1
		if !given && kind == "summarize" {
			return nil, false, nil // the preset of that name
		}
		share, err := strconv.ParseFloat(number, 64)
		if err != nil || !(share > 0 && share <= 1) {
			return nil, true, fmt.Errorf("%s wants a share of the window, %s:0.85 for example (got %q)", kind, kind, name)
		}
		return Summarize(share), true, nil
	}
	return nil, false, nil
}
