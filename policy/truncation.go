package policy

import "strings"

// parseTruncation recognizes a text that is, as a whole, what a truncation
// left: the marker stands where it belongs, and what was kept costs what the
// marker says. So that a text is not cut twice, and what it was cut from is
// known, without a ledger.
func parseTruncation(text string, cost Coster) (Mark, bool) {
	if !strings.Contains(text, "[truncated: kept ") {
		return Mark{}, false
	}
	for _, form := range []string{FormHead, FormTail, FormBoth} {
		for _, at := range markerPlaces(form, text) {
			if k, ok := truncationAt(form, text, at, cost); ok {
				return k, true
			}
		}
	}
	return Mark{}, false
}

// markerPlaces returns where in a text the marker of a truncation may stand.
// A text that is made of markers is not searched to its end.
func markerPlaces(form, text string) []int {
	open, _, _ := strings.Cut(builtinForms[form], "{")
	switch form {
	case FormHead:
		return []int{strings.LastIndex(text, open)}
	case FormTail:
		return []int{strings.Index(text[:min(len(open), len(text))], open)}
	}
	const most = 8
	var places []int
	for from := 0; len(places) < most; {
		at := strings.Index(text[from:], open)
		if at < 0 {
			break
		}
		places = append(places, from+at)
		from += at + len(open)
	}
	return places
}

func truncationAt(form, text string, at int, cost Coster) (Mark, bool) {
	if at < 0 {
		return Mark{}, false
	}
	template := builtinForms[form]
	last := template[strings.LastIndexByte(template, '}')+1:]
	end := strings.Index(text[at:], last)
	if end < 0 {
		return Mark{}, false
	}
	end += at + len(last)
	k, ok := parseForm(form, template, text[at:end])
	ok = ok && k.Tokens > k.Kept && (form != FormHead || end == len(text))
	return k, ok && fills(k, text[at:end], text[:at], text[end:], cost)
}

// fills reports whether what is left beside a marker is what the marker says,
// with the marker on top or counted in, and up to what a cut may lose.
func fills(k Mark, marker, head, tail string, cost Coster) bool {
	const lost = 4
	a, b := cost.Text(head), cost.Text(tail)
	least := max(k.Kept-cost.Text(marker), 0)
	if k.Form == FormBoth {
		if d := a - b; d > 2*lost || -d > 2*lost {
			return false
		}
	}
	return a+b <= k.Kept && a+b >= least-lost-k.Kept/50
}
