package configs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// An alias is the name of a setting in a system that a preset reproduces.
type alias struct {
	path string // path of the setting in this project
	// preset is set if the number is in a unit of this preset and would mean
	// something else in another preset.
	preset string
	// read converts the value of an alias to the value of the setting, if they differ. now
	// is the value that the setting has without the alias.
	read func(v, now any) any
	kind kind // kind of the given value, if read is set
}

// aliases maps the option names of the systems that presets reproduce, with and without
// their sections. They are listed in docs/COMPATIBILITY.md.
var aliases = func() map[string]alias {
	all := map[string]alias{
		"model.name":              {path: "model"},
		"model.max_input_tokens":  {path: "max_context_tokens"},
		"model.max_output_tokens": {path: "max_output_tokens"},
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
	const reducer = "history-reducer"
	for name, a := range map[string]alias{
		"enabled":                                {path: "policy.when", kind: kindBool, read: whenEnabled},
		"observationMasking":                     {path: "policy.stages", kind: kindBool, read: withMask},
		"observationMasking.enabled":             {path: "policy.stages", kind: kindBool, read: withMask},
		"observationMasking.maxObservationChars": {path: "mask.max_observation_chars"},
		"maxObservationChars":                    {path: "mask.max_observation_chars"},
		"maxInputChars":                          {path: "max_context_tokens", preset: reducer},
		"summaryMaxChars":                        {path: "summarizer.max_tokens", preset: reducer},
		// It counts messages, despite its name.
		"preserveRecentRawTurns": {path: "policy.keep_recent_messages", preset: reducer},
	} {
		all[name] = a
		all["historyReducer."+name] = a
	}
	return all
}()

// spelled maps old spellings to current ones, for each setting: versions before 0.1
// spelled some names in values differently.
var spelled = map[string]map[string]string{"policy.stages": {"summarise": "summarize"}}

// asSpelled returns a value of the setting with names in the current spelling.
func asSpelled(path string, v any) any {
	list, ok := v.([]string)
	if !ok || spelled[path] == nil {
		return v
	}
	list = slices.Clone(list)
	for i, name := range list {
		list[i] = cmp.Or(spelled[path][name], name)
	}
	return list
}

// neighbors are options of other features in the option blocks of the source
// systems. They have no effect here.
var neighbors = []string{"model.provider", "session.on_disconnect", "session.max_tool_iterations"}

// aliasSections are the sections that contain only aliases.
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

// whenEnabled converts "enabled" to policy.when: true becomes "window", and false
// becomes "never".
func whenEnabled(v, _ any) any {
	if v.(bool) {
		return string(policy.AtWindow)
	}
	return string(policy.Never)
}

// withMask adds the stage mask to the stages, or removes it.
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

// settings reads the values of a file's keys. prefix is the path of the override that
// holds the keys, "" outside of overrides.
func (l *loader) settings(name, prefix string, keys []givenKey) []setting {
	var all []setting
	first := map[string]givenKey{}
	for _, g := range keys {
		a, isAlias := aliases[g.key]
		path := g.key
		if isAlias {
			path = a.path
		}
		if before, ok := first[path]; ok {
			l.report.add(&Error{Source: name, Line: g.line, Path: prefix + g.key, Reason: "has the same meaning as " + before.key + " in line " + strconv.Itoa(before.line) + "; set one of them"})
			continue
		}
		first[path] = g
		if s, ok := l.setting(name, prefix, g, path, a); ok {
			all = append(all, s)
		}
	}
	return all
}

func (l *loader) setting(name, prefix string, g givenKey, path string, a alias) (setting, bool) {
	s := setting{path: path, source: name, line: g.line}
	if g.key != path {
		s.name = g.key
	}
	if a.preset != "" && a.preset != l.preset {
		l.report.add(&Error{Source: name, Line: g.line, Path: prefix + g.key, Reason: "belongs to the preset " + a.preset + "; other presets use " + path + unitOf(path)})
		return s, false
	}
	k := schema().byPath[path].kind
	if a.read != nil {
		k = a.kind
	}
	v, ok := fromNode(k, g.node)
	if !ok {
		l.report.add(&Error{Source: name, Line: g.line, Path: prefix + g.key, Value: plain(g.node), Reason: wanted[k]})
		return s, false
	}
	if a.read != nil {
		v = a.read(v, normal(l.current(path)))
	}
	s.value = asSpelled(path, v)
	return s, true
}

// unitOf returns a note on the unit of a setting in tokens, because the alias is in
// another unit.
func unitOf(path string) string {
	if strings.HasSuffix(path, "_tokens") {
		return ", in tokens"
	}
	return ""
}
