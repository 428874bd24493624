package configs

import (
	"strings"

	"github.com/go-playground/validator/v10"
)

// urls are what the settings that hold one look like.
var urls = map[string]string{
	"summarizer.base_url": "http://localhost:11434/v1",
	"trace.ariadne_url":   "http://127.0.0.1:5175",
	"trace.otlp_endpoint": "http://127.0.0.1:4318",
}

// reason says in words what a setting takes. It states the whole rule, not
// only the part that was broken.
func reason(f field, e validator.FieldError) string {
	switch e.Tag() {
	case "oneof":
		names := strings.Fields(e.Param())
		s, _ := e.Value().(string)
		return "must be one of " + strings.Join(names, ", ") + didYouMean(s, names)
	case "required", "required_if":
		return "must not be empty"
	case "url":
		return "must be a URL such as " + urls[f.path]
	case "gt", "gte", "lt", "lte":
		return rangeOf(f.rules, f.kind, e.Tag())
	}
	return "breaks the rule " + strings.TrimSuffix(e.Tag()+"="+e.Param(), "=")
}

// rangeOf reads the bounds of a number out of its rules: "0.0-1.0",
// ">= 1", "> 0". broken is the rule that the value breaks.
func rangeOf(rules string, k kind, broken string) string {
	bound := map[string]string{}
	for r := range strings.SplitSeq(rules, ",") {
		name, limit, _ := strings.Cut(r, "=")
		if k == kindFloat && !strings.Contains(limit, ".") {
			limit += ".0"
		}
		bound[name] = limit
	}
	low, high := bound["gte"]+bound["gt"], bound["lte"]+bound["lt"]
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

func oneSided(bound map[string]string) string {
	for _, b := range [][2]string{{"gte", ">= "}, {"gt", "> "}, {"lte", "<= "}, {"lt", "< "}} {
		if limit, ok := bound[b[0]]; ok {
			return b[1] + limit
		}
	}
	return "another number"
}
