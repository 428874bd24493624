package anthropic

import (
	"encoding/json"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// piece adds a block that is not a text: a picture, a document, or an unknown block.
// id is the id of the call if the block is in a result.
func (p *parser) piece(b *block, id string) {
	part := message.Part{Kind: message.KindOther, CallID: id}
	switch {
	case b.kind == "image" && b.source.End != 0:
		part.Kind = message.KindImage
	case b.kind == "document" && b.source.End != 0:
		part.Kind = message.KindFile
	default:
		part.Args, part.Name = b.verbatim(), b.kind
		p.Add(part, jsonscan.Span{})
		return
	}
	part.Media = &message.Media{Bytes: b.source.End - b.source.Start, Name: b.decoded(b.title)}
	if !b.readSource(&part) {
		part.Args = json.RawMessage(b.source.Of(b.data))
	}
	if p.user {
		p.AddSlot(part, b.at, b.slot())
		return
	}
	p.Add(part, jsonscan.Span{})
}

// slot returns a text block with the cache mark of this block.
func (b *block) slot() message.Slot {
	s := message.Slot{Before: `{"type":"text","text":`, After: "}"}
	if b.mark.End != 0 {
		s.After = `,"cache_control":` + string(b.mark.Of(b.data)) + "}"
	}
	return s
}

// readSource reads the source of the content. It reports whether the media hold all
// data of the block.
func (b *block) readSource(part *message.Part) bool {
	if b.data[b.source.Start] != '{' {
		return false
	}
	s := block{data: b.data}
	var kind, data, url string
	err := jsonscan.Object(b.data, b.source, func(m jsonscan.Member) error {
		switch m.Key {
		case "type":
			kind = b.decoded(s.string(m.Value))
		case "media_type":
			part.Media.MIME = b.decoded(s.string(m.Value))
		case "url":
			url = b.decoded(s.string(m.Value))
		case "data":
			if part.Kind == message.KindImage {
				data = b.decoded(s.string(m.Value))
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return false
	case kind == "url" && url != "":
		part.Media.URL = url
		return true
	case kind == "base64" && data != "":
		part.Media.URL = "data:" + part.Media.MIME + ";base64," + data
		return true
	}
	return false
}

// verbatim returns the JSON of the block, without its cache mark, which clients
// move.
func (b *block) verbatim() json.RawMessage {
	raw := b.at.Of(b.data)
	if b.marker.End == 0 {
		return json.RawMessage(raw)
	}
	return json.RawMessage(jsonscan.Without(raw, jsonscan.Span{Start: b.marker.Start - b.at.Start, End: b.marker.End - b.at.Start}))
}
