package transport

import (
	"bytes"
	"io"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// readAsked parses the agent model's answer to the instruction for a summary. It
// returns false if the answer can't be parsed.
func readAsked(f wire.Format, raw []byte, streamed bool) (a compact.AgentAnswer, ok bool) {
	d := dialects[f.Name()]
	if d == nil {
		return a, false
	}
	p := split(raw, streamed)
	a.Usage = usageOf(raw, streamed)
	switch ending(p) {
	case cutOff:
		a.CutOff = true
		return a, true
	case withheld:
		a.Withheld = true
		return a, true
	}
	said, ok := d.read(p)
	if !ok {
		return a, false
	}
	if said.cut { // for a reason that is not in ends
		a.CutOff = true
		return a, true
	}
	for _, elem := range said.whole {
		m, err := f.ParseMessage(elem)
		if err != nil {
			continue // an item without text
		}
		a.Text += m.Text()
		for i := range m.Parts {
			if m.Parts[i].Kind == message.KindToolCall && a.Calls == "" {
				a.Calls = m.Parts[i].Name
			}
		}
	}
	if a.Calls == "" && said.others+len(said.ours) > 0 {
		a.Calls = "it was given"
	}
	return a, true
}

// usageOf returns the usage that an answer reports, zero if it reports none.
func usageOf(raw []byte, streamed bool) (u compact.Usage) {
	kind := document
	if streamed {
		kind = stream
	}
	prompt := 0
	m := newMeter(io.NopCloser(bytes.NewReader(raw)), kind, func(n int) { prompt = n })
	_, _ = io.Copy(io.Discard, m) // never fails: it is in memory
	_ = m.Close()
	if prompt == 0 {
		return u
	}
	return m.bill.of(prompt)
}

// An end is the way in which an answer ended.
type end int

const (
	whole end = iota
	cutOff
	withheld
)

// ends maps the providers' stop reasons of incomplete answers.
var ends = map[string]end{
	"length": cutOff, "max_tokens": cutOff, "MAX_TOKENS": cutOff, "max_output_tokens": cutOff, "model_context_window_exceeded": cutOff, "pause_turn": cutOff,
	"content_filter": withheld, "refusal": withheld, "SAFETY": withheld, "RECITATION": withheld, "BLOCKLIST": withheld, "PROHIBITED_CONTENT": withheld, "SPII": withheld,
}

// ending returns how an answer ended, on any wire.
func ending(p *pieces) (last end) {
	note := func(reason string) {
		if e := ends[reason]; e != whole {
			last = e
		}
	}
	for _, e := range p.list {
		o := e.read()
		for _, list := range [][]rawObject{objects(o, "choices"), objects(o, "candidates")} {
			for _, c := range list {
				note(text(c["finish_reason"]))
				note(text(c["finishReason"]))
			}
		}
		note(text(o["stop_reason"]))
		note(text(obj(o["delta"])["stop_reason"]))
		note(text(obj(o["promptFeedback"])["blockReason"]))
		for _, r := range []rawObject{o, obj(o["response"])} {
			note(text(obj(r["incomplete_details"])["reason"]))
		}
	}
	return last
}

// objects returns the elements of a list of objects.
func objects(o rawObject, name string) (out []rawObject) {
	for _, raw := range list(o[name]) {
		out = append(out, obj(raw))
	}
	return out
}
