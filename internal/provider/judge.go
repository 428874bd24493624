package provider

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// A Judge accepts or refuses requests like the server of one provider. It
// records the model's output passed to [Judge.Issue]: signatures and encrypted
// reasoning are valid only if they are unchanged. It is safe for concurrent
// use.
type Judge struct {
	// Dialects makes the judge also apply rules of only some servers of this
	// wire. These servers refuse an empty tool result, a conversation that ends
	// with the model's own words, and a kept message without its reasoning. It
	// must not be changed while the judge is used.
	Dialects bool

	wire  Wire
	rules rules
	ledger
}

// rules holds the checks of one provider, and the function that records the
// model's output in a request.
type rules struct {
	judge func(j *Judge, r *report, body object)
	issue func(j *Judge, body object)
	parse string // the error text for a body that is not a JSON object
}

// NewJudge returns a judge for a wire.
func NewJudge(w Wire) *Judge {
	all := map[Wire]rules{Chat: chatRules, Responses: responsesRules, Anthropic: anthropicRules, Gemini: geminiRules}
	return &Judge{wire: w, rules: all[w], ledger: newLedger()}
}

// Wire returns the wire of the judge.
func (j *Judge) Wire() Wire { return j.wire }

// Issue records the model's output in a request as genuine: the signatures, the signed
// content, and for each signature the call or message that follows it. A body that
// can't be read is ignored.
func (j *Judge) Issue(body []byte) {
	if o, err := decode(body); err == nil {
		j.rules.issue(j, o)
	}
}

// Judge returns the reasons why the provider refuses a request, or nil if it accepts
// the request. The provider would name only the first refusal. The body is not kept.
func (j *Judge) Judge(body []byte) []Refusal {
	return j.decoded(decode(body))
}

// decoded does the work of Judge for the values that decode returned.
func (j *Judge) decoded(o object, err error) []Refusal {
	if err != nil {
		return []Refusal{{Rule: "json", Text: j.rules.parse}}
	}
	r := &report{}
	j.rules.judge(j, r, o)
	return r.found
}

type object = map[string]any

// decode reads one JSON object. Nothing may follow it.
func decode(body []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var o object
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	if o == nil {
		return nil, errors.New("null")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return o, nil
}

// str returns a member that is a string, else "".
func str(o object, name string) string {
	s, _ := o[name].(string)
	return s
}

// objects returns the elements of an array, with nil for those that are not
// objects.
func objects(v any) []object {
	l, _ := v.([]any)
	out := make([]object, len(l))
	for i, e := range l {
		out[i], _ = e.(object)
	}
	return out
}

// canonical returns a value as JSON with sorted members.
func canonical(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// without returns an object without some of its members.
func without(o object, names ...string) object {
	out := make(object, len(o))
	for k, v := range o {
		out[k] = v
	}
	for _, n := range names {
		delete(out, n)
	}
	return out
}
