package record

import "bytes"

// editsCheck checks the records of edits.jsonl against the originals before
// them.
type editsCheck struct {
	v         *verifier
	originals []original // since the last record
}

type original struct {
	text []byte
	line int
}

// record takes the next line: it keeps an original, and checks any other line
// against the originals before it.
func (c *editsCheck) record(line int, body []byte, _ string) {
	refs, ok, err := c.v.opts.Edits(body)
	switch {
	case err != nil:
		c.v.problem(Unreadable, editsName, line, "%v", err)
	case !ok:
		text, _ := originalOf(body)
		c.originals = append(c.originals, original{bytes.Clone(text), line})
		return
	default:
		c.compare(line, refs)
	}
	c.originals = nil
}

func (c *editsCheck) compare(line int, refs []Ref) {
	if len(refs) > len(c.originals) {
		c.v.problem(Removed, editsName, line, "it refers to %d originals, but %d are before it", len(refs), len(c.originals))
		return
	}
	for i, o := range c.originals[len(c.originals)-len(refs):] {
		if hashOf(o.text) != refs[i].SHA256 || !bytes.Contains(o.text, []byte(`"`+refs[i].ID+`"`)) {
			c.v.problem(Changed, editsName, o.line, "the record in line %d refers to a different original here, %s", line, refs[i].ID)
		}
	}
}
