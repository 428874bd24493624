package policy

import "strings"

// parseTruncation recognizes a truncated text: the marker is in its place, and the cost
// of the kept text matches the marker. Thus, even without a ledger, a text is not cut
// twice, and its original size is known.
func parseTruncation(text string, cost Coster) (Mark, bool) {
	if !strings.Contains(text, "[truncated: kept ") {
		return Mark{}, false
	}
	for _, form := range []string{formHead, formTail, formBoth} {
		for _, at := range markerPlaces(form, text) {
			if k, ok := truncationAt(form, text, at, cost); ok {
				return k, true
			}
		}
	}
	return Mark{}, false
}

// markerPlaces returns the positions at which the marker of a truncation may stand. It
// limits their number, because a text may consist of markers.
func markerPlaces(form, text string) []int {
	open, _, _ := strings.Cut(builtinForms[form], "{")
	switch form {
	case formHead:
		return []int{strings.LastIndex(text, open)}
	case formTail:
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
	ok = ok && k.Tokens > k.Kept && (form != formHead || end == len(text))
	return k, ok && fills(k, text[at:end], text[:at], text[end:], cost)
}

// fills reports whether the text beside a marker has the size that the marker states.
// The marker may count within that size or not. fills allows for the small loss of a cut.
func fills(k Mark, marker, head, tail string, cost Coster) bool {
	const lost = 4
	a, b := cost.Text(head), cost.Text(tail)
	least := max(k.Kept-cost.Text(marker), 0)
	if k.Form == formBoth {
		if d := a - b; d > 2*lost || -d > 2*lost {
			return false
		}
	}
	return a+b <= k.Kept && a+b >= least-lost-k.Kept/50
}
