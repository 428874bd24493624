package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentcompact/compact/configs"
	"github.com/agentcompact/compact/redact"
)

func newRedact(a *app) *cobra.Command {
	var field, out string
	cmd := &cobra.Command{
		Use:   "redact FILE|-",
		Short: "Replace the secrets in a text or a transcript",
		Long: `Redact writes text, JSON or JSONL to standard output with its secrets replaced, and
reports what it found on standard error. JSON stays valid: redact keeps keys and
structure, and also finds secrets in JSON inside of strings. A gzipped file is unpacked.`,
		Args: oneFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, err := a.load(cmd, configs.KeysOptional())
			if err != nil {
				return err
			}
			data, err := a.readText(args[0])
			if err != nil {
				return err
			}
			red, err := cfg.Redaction.Redactor()
			if err != nil {
				return err
			}
			c := &cleaner{redactor: red, field: field, found: redact.Stats{}}
			clean, err := c.clean(inputName(args[0]), data)
			if err != nil {
				return err
			}
			if out == "" || out == "-" {
				_, err = a.out.Write(clean)
			} else {
				err = a.writeFile(out, clean)
			}
			return errors.Join(err, a.printFound(c.found))
		},
	}
	a.addArchive(cmd)
	cmd.Flags().StringArrayVar(&a.flags.set, "set", nil, "a setting, `PATH=VALUE`, such as redaction.pii=true; may be repeated")
	cmd.Flags().StringVar(&field, "jsonl-field", "", "redact only the field `NAME` of each line of JSONL")
	cmd.Flags().StringVar(&out, "out", "", "write to `FILE` instead of standard output")
	return cmd
}

// readText reads a text, which may be gzipped. It refuses text with NUL bytes, such as
// UTF-16, because no secret would be found in it.
func (a *app) readText(file string) ([]byte, error) {
	data, err := a.bytes(file)
	if err != nil {
		return nil, err
	}
	if data, err = unzipped(data); err == nil && bytes.IndexByte(data, 0) >= 0 {
		err = errors.New("it has NUL bytes, as UTF-16 and binary files do, and secrets in it would not be found: convert it to UTF-8")
	}
	if err != nil {
		return nil, &inputError{file: inputName(file), err: err}
	}
	return data, nil
}

// cleaner redacts one input and counts the findings.
type cleaner struct {
	redactor *redact.Redactor
	field    string
	found    redact.Stats
}

// clean redacts JSONL line by line, and any other input as a whole, so that it
// finds secrets that span several lines.
func (c *cleaner) clean(name string, data []byte) ([]byte, error) {
	if c.field == "" && !isJSONL(data) {
		return c.text(data), nil
	}
	var out []byte
	for number := 1; len(data) > 0; number++ {
		line, rest, more := bytes.Cut(data, []byte{'\n'})
		data = rest
		clean, err := c.line(line)
		if err != nil {
			return nil, &inputError{file: name, line: number, err: err}
		}
		out = append(out, clean...)
		if more {
			out = append(out, '\n')
		}
	}
	return out, nil
}

// isJSONL reports whether every line that is not blank is a JSON object, and
// there are at least two. A single line counts as JSON, with the same result.
func isJSONL(data []byte) bool {
	n := 0
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if line[0] != '{' || !json.Valid(line) {
			return false
		}
		n++
	}
	return n > 1
}

func (c *cleaner) text(data []byte) []byte {
	c.found.Count(c.redactor.Find(string(data)))
	return []byte(c.redactor.Text(string(data)).String())
}

func (c *cleaner) line(line []byte) ([]byte, error) {
	if c.field == "" {
		return c.text(line), nil
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return line, nil
	}
	clean, err := c.redactor.JSONField(line, c.field)
	if err != nil {
		return nil, errors.New("not a JSON object")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(line, &members) == nil {
		c.found.Count(c.redactor.Find(string(members[c.field])))
	}
	return []byte(clean.String()), nil
}

// printFound prints the findings by rule, to standard error.
func (a *app) printFound(found redact.Stats) error {
	if a.quiet {
		return nil
	}
	if a.json {
		enc := json.NewEncoder(a.err)
		return enc.Encode(map[string]any{"secrets": found.Total(), "by_rule": found})
	}
	names := slices.SortedFunc(maps.Keys(found), func(x, y string) int {
		if found[x] != found[y] {
			return found[y] - found[x]
		}
		return strings.Compare(x, y)
	})
	fmt.Fprintln(a.err, things(found.Total(), "secret")+" redacted")
	for _, name := range names {
		fmt.Fprintf(a.err, "%8s  %s\n", count(found[name]), printable(name))
	}
	return nil
}
