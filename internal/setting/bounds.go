package setting

import "strings"

// Bounds returns the bounds of a number from its rules: "0.0-1.0", ">= 1", ">
// 0". broken is the rule that the value breaks.
func Bounds(rules string, float bool, broken string) string {
	bound := map[string]string{}
	for r := range strings.SplitSeq(rules, ",") {
		name, limit, _ := strings.Cut(r, "=")
		if float && !strings.Contains(limit, ".") {
			limit += ".0"
		}
		bound[name] = limit
	}
	low, high := bound["gte"]+bound["gt"], bound["lte"]+bound["lt"]
	if _, optional := bound["omitempty"]; optional {
		return "must be 0 or " + oneSided(bound)
	}
	if low == "" || high == "" {
		return "must be " + oneSided(bound)
	}
	words := "must be " + low + "-" + high
	switch broken {
	case "gt":
		words += " and above " + low
	case "lt":
		words += " and below " + high
	}
	return words
}

// OneOf lists the allowed names, and suggests the nearest.
func OneOf(name string, names []string) string {
	return "must be one of " + strings.Join(names, ", ") + DidYouMean(name, names)
}

func oneSided(bound map[string]string) string {
	for _, b := range [][2]string{{"gte", ">= "}, {"gt", "> "}, {"lte", "<= "}, {"lt", "< "}} {
		if limit, ok := bound[b[0]]; ok {
			return b[1] + limit
		}
	}
	return "another number"
}
