package responses

import (
	"encoding/json"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/body"
	"github.com/agentcompact/compact/message/internal/elements"
	"github.com/agentcompact/compact/message/internal/meta"
	"github.com/agentcompact/compact/message/wire"
)

// request is the body of a POST to …/responses.
type request struct {
	body   []byte
	list   elements.List // list of the items, with one element for each group; At is zero if input is a string
	input  jsonscan.Span // span of input if it is a string
	prompt int           // 1 if Messages begins with the instructions, else 0
	msgs   []message.Message
	cut    bool // the "meta" of some item was removed
	about  wire.About
}

func parseRequest(data []byte, c *wire.Cache) (*request, error) {
	doc, err := c.Split(data, "input")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	b := body.New(data, doc.Members)
	if err := b.Once("input", "instructions"); err != nil {
		return nil, err
	}
	r := &request{body: data, about: aboutOf(b)}
	if err := r.instructions(b, c); err != nil {
		return nil, err
	}
	if doc.At.End != 0 {
		err = r.items(doc, c)
	} else {
		err = r.text(b, doc.Members, c)
	}
	if err != nil {
		return nil, err
	}
	for _, e := range doc.List {
		if string(bare(e.Type.Of(data))) == "compaction_trigger" && r.about.ServerSide == "" {
			r.about.ServerSide = "compaction_trigger"
		}
	}
	return r, nil
}

func aboutOf(b body.Body) wire.About {
	a := b.About()
	a.Tools = b.JSON("tools")
	a.MaxOutput = b.Int("max_output_tokens")
	for _, key := range []string{"previous_response_id", "conversation", "context_management"} {
		if raw := string(b.JSON(key)); raw != "" && raw != `""` && raw != "[]" && a.ServerSide == "" {
			a.ServerSide, a.Delta = key, key != "context_management"
			switch key {
			case "conversation":
				a.ServerID = conversationID(b.JSON(key))
			case "context_management":
				a.ServerTrigger = threshold(b.JSON(key))
			}
		}
	}
	return a
}

// conversationID returns the id of a conversation, which is a string or an object. For a value of
// another form it returns the JSON.
func conversationID(raw json.RawMessage) string {
	var id string
	if json.Unmarshal(raw, &id) == nil {
		return id
	}
	var o struct {
		ID string `json:"id"`
	}
	if json.Unmarshal(raw, &o) == nil && o.ID != "" {
		return o.ID
	}
	return string(raw)
}

// threshold returns the number of tokens from which the provider compacts
// (https://developers.openai.com/api/docs/guides/compaction). If the request states no
// number, it returns 1, because the provider may compact at any size.
func threshold(raw []byte) int {
	var list []struct {
		Type  string `json:"type"`
		Value int    `json:"compact_threshold"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return 1
	}
	least := list[0].Value
	for _, x := range list {
		if x.Type != "compaction" {
			return 1
		}
		least = min(least, x.Value)
	}
	return max(least, 1)
}

// behind marks the messages before the newest compaction item, which are no longer edited.
// The provider still reads messages of users and instructions among them, as
// /responses/compact returns them. The compaction item replaces all others.
func (r *request) behind() {
	last := len(r.msgs) - 1
	for last >= r.prompt && r.msgs[last].Role != "compaction" {
		last--
	}
	for i := r.prompt; i < last; i++ {
		r.msgs[i].Protected = true
		switch r.msgs[i].Role {
		case message.RoleUser, message.RoleSystem, message.RoleDeveloper, "compaction":
		default:
			r.msgs[i].Unread = !lasting[string(r.msgs[i].Role)]
		}
	}
}

// instructions reads the system prompt.
func (r *request) instructions(b body.Body, c *wire.Cache) error {
	raw := b.JSON("instructions")
	if raw == nil {
		return nil
	}
	if raw[0] != '"' {
		return &wire.FieldError{Field: "instructions", Reason: "must be a string"}
	}
	msgs, err := c.Messages(Name+" instructions", raw, func(raw []byte) ([]message.Message, error) {
		m, err := wrapped(message.RoleSystem, raw)
		m.Protected = true
		return []message.Message{m}, err
	})
	r.msgs, r.prompt = append(r.msgs, msgs...), len(msgs)
	return err
}

// wrapped reads a JSON string as a message of a role.
func wrapped(role message.Role, text []byte) (message.Message, error) {
	raw := append([]byte(`{"type":"message","role":"`+string(role)+`","content":`), text...)
	return parseGroup(append(raw, '}'))
}

// text reads an input that is a string. A request without an input has no messages, if
// it names messages that the provider stores.
func (r *request) text(b body.Body, members []jsonscan.Member, c *wire.Cache) error {
	raw := b.JSON("input")
	switch {
	case raw == nil && (r.about.Delta || b.JSON("prompt") != nil):
		return nil
	case raw == nil || raw[0] != '"':
		return &wire.FieldError{Field: "input", Reason: "is missing, or is neither a string nor an array"}
	}
	for _, m := range members {
		if m.Key == "input" {
			r.input = m.Value
		}
	}
	msgs, err := c.Messages(Name+" input", raw, func(raw []byte) ([]message.Message, error) {
		m, err := wrapped(message.RoleUser, raw)
		return []message.Message{m}, err
	})
	r.msgs = append(r.msgs, msgs...)
	return err
}

func (r *request) items(doc jsonscan.Document, c *wire.Cache) error {
	r.list = elements.List{At: doc.At, Elems: groups(r.body, doc.List)}
	msgs := make([]message.Message, r.prompt, r.prompt+len(r.list.Elems))
	copy(msgs, r.msgs)
	r.msgs = msgs
	for _, at := range r.list.Elems {
		one, err := c.Messages(Name, at.Of(r.body), parseItems)
		if err != nil {
			return r.locate(doc.List, err)
		}
		r.msgs = append(r.msgs, one[0])
		r.cut = r.cut || len(one[0].Raw()) != at.End-at.Start
	}
	r.behind()
	return nil
}

// parseItems reads the items of a message, without the field meta.
func parseItems(raw []byte) ([]message.Message, error) {
	sent, protected := withoutMeta(raw)
	m, err := parseGroup(sent)
	m.Protected = m.Protected || protected
	return []message.Message{m}, err
}

// withoutMeta removes the field meta from every item of a message. If one item is protected,
// the message is protected.
func withoutMeta(raw []byte) (sent []byte, protected bool) {
	if !meta.In(raw) {
		return raw, false
	}
	from := 0
	for at := 0; at < len(raw); {
		item, err := jsonscan.Value(raw, at)
		if err != nil {
			return raw, false // the next reader reports the error
		}
		one, yes := meta.Strip(item.Of(raw))
		sent = append(append(sent, raw[from:item.Start]...), one...)
		protected = protected || yes
		from = item.End
		if at = jsonscan.Space(raw, item.End); at < len(raw) && raw[at] == ',' {
			at = jsonscan.Space(raw, at+1)
		}
	}
	return append(sent, raw[from:]...), protected
}

// differs reports whether message i differs from the body.
func (r *request) differs(i int) bool {
	return r.cut && i >= r.prompt && len(r.msgs[i].Raw()) != r.list.Elems[i-r.prompt].End-r.list.Elems[i-r.prompt].Start
}

// locate adds the item to an error: the first item that can't be read by itself.
func (r *request) locate(items []jsonscan.Element, err error) error {
	for i, e := range items {
		if _, bad := parseGroup(e.Of(r.body)); bad != nil {
			return wire.In("input", i, bad)
		}
	}
	return err
}

func (r *request) Format() wire.Format { return Wire }

func (r *request) Messages() []message.Message { return r.msgs }

func (r *request) About() wire.About { return r.about }
