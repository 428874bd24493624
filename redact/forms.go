package redact

// Forms returns what a secret may look like where it stands: as it is, and as JSON,
// URLs, HTML and base64 write it, without what would be too short to be looked for.
// It is for those who look for a secret that they know.
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
