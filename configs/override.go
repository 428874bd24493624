package configs

import (
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/agentcompact/compact/compact"
)

// An exception is one entry in the list of overrides of a file.
type exception struct {
	at           string // "overrides[2]", counted within its file
	source       string
	line, layer  int
	model, agent string
	keys         []givenKey
	settings     []setting
	broken       bool // a mistake in this entry was reported already
}

// override reads the list of overrides.
func (f *file) override(line int, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		f.fail(line, overridesKey, plain(n), `must be a list, such as [{model: "claude-*", policy: {trigger_pct: 0.7}}]`, nil)
		return
	}
	for i, e := range n.Content {
		at := fmt.Sprintf("%s[%d]", overridesKey, i)
		if e.Kind == yaml.AliasNode {
			e = e.Alias
		}
		if e.Kind != yaml.MappingNode {
			f.fail(e.Line, at, plain(e), "must hold a model, an agent or both, and settings", nil)
			continue
		}
		f.exception(at, e)
	}
}

func (f *file) exception(at string, n *yaml.Node) {
	x, before := exception{at: at, source: f.name, line: n.Line}, len(f.report.all)
	inner := &file{name: f.name, report: f.report, seen: map[string]int{}, within: at}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		var into *string
		switch key.Value {
		case "model":
			into = &x.model
		case "agent":
			into = &x.agent
		default:
			inner.key(key, "", value)
			continue
		}
		name, ok := fromNode(kindString, value)
		if !ok || name == "" {
			f.fail(key.Line, at+"."+key.Value, plain(value), `must be a name or a pattern, such as "claude-*"`, nil)
			continue
		}
		*into = name.(string)
	}
	x.keys, x.broken = inner.given, len(f.report.all) > before
	f.exceptions = append(f.exceptions, x)
}

// overridesOf returns the overrides of the files. Each holds the settings that no
// higher layer sets.
func (l *loader) overridesOf(chain []*file) []compact.Override {
	var all []compact.Override
	for i, f := range chain {
		for _, x := range f.exceptions {
			x.layer = i + 1
			before := len(l.report.all)
			x.settings = l.settings(f.name, x.at+".", x.keys)
			if x.broken || len(l.report.all) > before {
				continue
			}
			if o, ok := l.overrideOf(len(all), x, len(chain)); ok {
				all = append(all, o)
				l.exceptions = append(l.exceptions, x)
			}
		}
	}
	return all
}

// overrideOf returns one override, and false if higher layers overrule all of it.
func (l *loader) overrideOf(number int, x exception, files int) (compact.Override, bool) {
	o := compact.Override{Model: x.model, Agent: x.agent, Set: map[string]any{}}
	prefix := fmt.Sprintf("%s[%d]", overridesKey, number)
	l.from[prefix] = setting{path: x.at, source: x.source, line: x.line, layer: x.layer, name: x.at}
	for _, s := range x.settings {
		s.layer, s.within = x.layer, x.at
		l.attempt(s)
		if l.from[s.path].layer > files {
			continue
		}
		l.from[prefix+"."+s.path] = s
		o.Set[s.path] = s.value
	}
	l.chooseBackend(prefix, o.Set)
	l.overruledIn(prefix, o.Set)
	return o, len(o.Set) > 0 || len(x.settings) == 0
}

// chooseBackend derives the backend from a model or a server, as for a file.
func (l *loader) chooseBackend(prefix string, set map[string]any) {
	const backend = "summarizer.backend"
	if _, named := set[backend]; named || l.from[backend].layer > l.from[prefix].layer {
		return
	}
	for _, path := range []string{"summarizer.model", "summarizer.base_url"} {
		if v, ok := set[path]; ok && v != "" {
			set[backend] = openAI
			l.from[prefix+"."+backend] = l.from[prefix+"."+path]
		}
	}
}

// overruledIn removes the settings of a model that became useless because a layer above
// the override named another backend.
func (l *loader) overruledIn(prefix string, set map[string]any) {
	backend := l.from["summarizer.backend"]
	if _, named := set[backend.path]; named || backend.layer <= l.from[prefix].layer {
		return
	}
	for _, path := range uselessWith(fmt.Sprint(backend.value)) {
		delete(set, path)
		delete(l.from, prefix+"."+path)
	}
}

// ofSummaries are the settings of summarizer that do not affect the client.
var ofSummaries = []string{"summarizer.max_tokens", "summarizer.user_tokens", "summarizer.instructions", "summarizer.sections", "summarizer.prompt_file"}

// summarizers creates the clients of the models that overrides name.
func (l *loader) summarizers(c *compact.Config) {
	for i := range c.Overrides {
		o := &c.Overrides[i]
		own, named := *c, false
		for path, value := range o.Set {
			f := schema().byPath[path]
			if f.section() == "summarizer" && !slices.Contains(ofSummaries, f.path) {
				f.valueIn(reflect.ValueOf(&own).Elem()).Set(reflect.ValueOf(value).Convert(f.valueIn(reflect.ValueOf(&own).Elem()).Type()))
				named = true
			}
		}
		if named {
			own.Summarize = nil
			l.summarizer(&own, fmt.Sprintf("%s[%d].", overridesKey, i))
			o.Summarize = own.Summarize
		}
	}
}
