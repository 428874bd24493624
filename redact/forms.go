package redact

// Forms returns the forms in which a known secret may be written: verbatim, and as
// JSON, URLs, HTML and base64 encode it. Forms that are too short for a reliable
// search are left out.
func Forms(secret string) []string {
	var n needles
	n.addForms(span{secret: secret})
	out := []string{secret}
	for _, d := range n.list {
		if d.form != secret {
			out = append(out, d.form)
		}
	}
	return out
}
