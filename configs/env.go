package configs

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/compact"
	words "github.com/agentcompact/compact/internal/setting"
)

const envPrefix = "COMPACT_"

// short are settings outside policy that also have a short variable.
var short = []string{"trace.ariadne_url", "trace.otlp_endpoint"}

// foreign are variables with the prefix that are not settings: secrets, and
// variables of this project's tests.
var foreign = []string{pseudonymVariable, headsVariable, publicVariable, compact.ArchiveKeyVariable, identityVariable, identityFileVariable, "COMPACT_VECTORS", "COMPACT_TRANSCRIPTS", "COMPACT_REDACTION_CORPUS"}

// variables maps the name of every variable to its setting.
func variables() map[string]string {
	all := map[string]string{}
	leaves := map[string]int{}
	for _, f := range schema().fields {
		if f.owner == nil { // settings of components do not affect short names
			leaves[f.leaf()]++
		}
	}
	for _, f := range schema().fields {
		all[variable(f.path)] = f.path
		if f.section() == "policy" && leaves[f.leaf()] == 1 || slices.Contains(short, f.path) {
			all[variable(f.leaf())] = f.path
		}
	}
	return all
}

func variable(path string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(path, ".", "_"))
}

// A Variable has the prefix COMPACT_, but is not a setting and has no effect.
type Variable struct {
	Name  string
	Meant string // a similar setting's variable, or the flag for it; "" = none
}

// elsewhere maps wrong names that are often tried to the flag or variable with the
// intended effect.
var elsewhere = map[string]string{
	"COMPACT_CONFIG": "--config", "COMPACT_CONFIG_FILE": "--config", "COMPACT_CONFIG_PATH": "--config",
	"COMPACT_ARCHIVE": "COMPACT_STORAGE_PATH", "COMPACT_ARCHIVE_DIR": "COMPACT_STORAGE_PATH", "COMPACT_ARCHIVE_PATH": "COMPACT_STORAGE_PATH",
	"COMPACT_WINDOW": "COMPACT_MAX_CONTEXT_TOKENS", "COMPACT_MAX_TOKENS": "COMPACT_MAX_CONTEXT_TOKENS", "COMPACT_CONTEXT_WINDOW": "COMPACT_MAX_CONTEXT_TOKENS",
	"COMPACT_POLICY": "COMPACT_PRESET",
}

// Unused returns the variables in environ that have the prefix of settings and no effect.
// They may belong to other programs, so Load does not refuse them. Names that Load refuses
// are not among them.
func Unused(environ []string) []Variable {
	known := variables()
	var all []Variable
	for _, entry := range environ {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || strings.TrimSpace(text) == "" || known[name] != "" || slices.Contains(foreign, name) || isSecret(name) || suspicion(name, known) != "" {
			continue
		}
		v := Variable{Name: name, Meant: elsewhere[name]}
		var whole []string // variables that end in the same name, after a section
		for k := range known {
			if strings.HasSuffix(k, strings.TrimPrefix(name, "COMPACT")) {
				whole = append(whole, k)
			}
		}
		if v.Meant == "" && len(whole) == 1 {
			v.Meant = whole[0]
		}
		all = append(all, v)
	}
	return all
}

// environment reads the variables that name settings.
func (l *loader) environment() []setting {
	known := variables()
	byPath := map[string]setting{}
	var all []setting
	for _, entry := range l.environ {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || strings.TrimSpace(text) == "" || slices.Contains(foreign, name) || isSecret(name) {
			continue
		}
		path, ok := known[name]
		if !ok {
			if wrong := suspicion(name, known); wrong != "" {
				l.report.add(&Error{Source: name, Reason: wrong})
			}
			continue
		}
		v, ok := fromText(schema().byPath[path].kind, text)
		if !ok {
			l.report.add(&Error{Source: name, Path: path, Value: text, Reason: wanted[schema().byPath[path].kind]})
			continue
		}
		if other, twice := byPath[path]; twice {
			l.report.add(&Error{Source: name, Path: path, Reason: "is set twice, also by " + other.source})
			continue
		}
		s := setting{path: path, source: name, value: asSpelled(path, v)}
		byPath[path] = s
		all = append(all, s)
	}
	return all
}

// suspicion returns what is wrong with a variable that looks like a setting, or "". Other
// variables with the prefix may belong to other programs.
func suspicion(name string, known map[string]string) string {
	lower := strings.ToLower(name)
	ours := false
	for s := range schema().sections {
		ours = ours || strings.HasPrefix(name, variable(s)+"_")
	}
	meant := ""
	for k := range known {
		if k := strings.ToLower(k); words.Distance(lower, k, 2) <= 2 && (meant == "" || k < meant) {
			meant = k
		}
	}
	switch {
	case meant != "":
		return "is not a setting (did you mean " + strings.ToUpper(meant) + "?)"
	case ours:
		return "is not a setting"
	}
	return ""
}
