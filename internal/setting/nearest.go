package setting

import "strings"

// Nearest returns the known name that is closest to name, or "".
func Nearest(name string, known []string) string {
	name = strings.ToLower(name)
	leaf := name[strings.LastIndexByte(name, '.')+1:]
	best, at := "", min(1+len(leaf)/4, 4)
	for _, k := range known {
		if d := Distance(name, k, at); d < at || d == at && (best == "" || k < best) {
			best, at = k, d
		}
	}
	if best != "" {
		return best
	}
	// The name may be correct, but its section wrong or missing; or its end is missing.
	if k := only(known, func(k string) bool { return k[strings.LastIndexByte(k, '.')+1:] == leaf }); k != "" {
		return k
	}
	return only(known, func(k string) bool { return leaf != "" && strings.HasPrefix(k, name+"_") })
}

// only returns the name that meets a condition, "" if there is none or more than one.
func only(known []string, meets func(string) bool) (found string) {
	for _, k := range known {
		if !meets(k) {
			continue
		}
		if found != "" {
			return ""
		}
		found = k
	}
	return found
}

// Distance returns the number of letters to insert, remove, replace or swap
// with their neighbor, or more than limit.
func Distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// DidYouMean returns the end of a sentence that suggests a name.
func DidYouMean(name string, known []string) string {
	if k := Nearest(name, known); k != "" {
		return " (did you mean " + k + "?)"
	}
	return ""
}
