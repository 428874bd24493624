package configs

import (
	"slices"
	"strconv"
	"strings"
)

// alias is the name that a system from which a preset comes has for a setting.
type alias struct {
	path string // of the setting here
	// preset, where the number has the unit of one preset and would mean
	// something else in another.
	preset string
	// read makes the setting's value of the given one, where it is not the
	// same; now is what the setting has without it.
	read func(v, now any) any
	kind kind // of the given value, with read
}

// aliases are the option names of the source systems, by the path that they
// have there; those of the gateway also without their section. They are
// listed in docs/COMPATIBILITY.md.
var aliases = func() map[string]alias {
	all := map[string]alias{
		"model.name":              {path: "model"},
		"model.max_input_tokens":  {path: "max_context_tokens"},
		"model.max_output_tokens": {path: "max_output_tokens"},

		"observationMasking":  {path: "policy.stages", kind: kindBool, read: withMask},
		"maxObservationChars": {path: "mask.max_observation_chars"},
		"maxInputChars":       {path: "max_context_tokens", preset: "history-reducer"},
		"summaryMaxChars":     {path: "summarizer.max_tokens", preset: "history-reducer"},
		// It counts messages, whatever its name says.
		"preserveRecentRawTurns": {path: "policy.keep_recent_messages", preset: "history-reducer"},
	}
	for name, path := range map[string]string{
		"max_history_tokens":     "policy.max_history_tokens",
		"max_tool_result_tokens": "truncate.max_tool_result_tokens",
		"tool_result_truncation": "truncate.keep",
		"tool_result_keep_first": "mask.keep_first",
		"tool_result_keep_last":  "mask.keep_last",
	} {
		all[name] = alias{path: path}
		all["session.context."+name] = alias{path: path}
	}
	return all
}()

// aliasSections are the sections that only aliases have.
var aliasSections = func() map[string]bool {
	all := map[string]bool{}
	for name := range aliases {
		for i, c := range name {
			if c == '.' {
				all[name[:i]] = true
			}
		}
	}
	return all
}()

// withMask puts the stage mask into the stages, or takes it out.
func withMask(v, now any) any {
	stages := slices.DeleteFunc(slices.Clone(now.([]string)), func(s string) bool { return s == "mask" })
	if v.(bool) {
		at := 0
		if i := slices.Index(stages, "truncate"); i >= 0 {
			at = i + 1
		}
		stages = slices.Insert(stages, at, "mask")
	}
	return stages
}

// settings reads the values of a file's keys. defaults says what a setting has
// in the preset.
func (l *loader) settings(name string, keys []given) []setting {
	var all []setting
	first := map[string]given{}
	for _, g := range keys {
		a, isAlias := aliases[g.key]
		path := g.key
		if isAlias {
			path = a.path
		}
		if before, ok := first[path]; ok {
			l.report.add(&Error{Source: name, Line: g.line, Path: g.key, Reason: "says the same as " + before.key + " in line " + strconv.Itoa(before.line) + "; give one of them"})
			continue
		}
		first[path] = g
		if s, ok := l.setting(name, g, path, a); ok {
			all = append(all, s)
		}
	}
	return all
}

func (l *loader) setting(name string, g given, path string, a alias) (setting, bool) {
	s := setting{path: path, source: name, line: g.line}
	if g.key != path {
		s.name = g.key
	}
	if a.preset != "" && a.preset != l.preset {
		l.report.add(&Error{Source: name, Line: g.line, Path: g.key, Reason: "belongs to the preset " + a.preset + "; elsewhere there is " + path + unitOf(path)})
		return s, false
	}
	k := schema().byPath[path].kind
	if a.read != nil {
		k = a.kind
	}
	v, ok := fromNode(k, g.node)
	if !ok {
		l.report.add(&Error{Source: name, Line: g.line, Path: g.key, Value: plain(g.node), Reason: wanted[k]})
		return s, false
	}
	if a.read != nil {
		v = a.read(v, l.defaults[path])
	}
	s.value = v
	return s, true
}

// unitOf warns that the number is another one there.
func unitOf(path string) string {
	if strings.HasSuffix(path, "_tokens") {
		return ", in tokens"
	}
	return ""
}
