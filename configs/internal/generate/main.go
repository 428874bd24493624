// Generate writes the file of each preset into the folder configs, where go
// generate runs it, and all settings into docs/CONFIGURATION.md.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/reference"
)

func main() {
	for _, name := range compact.Presets() {
		failed(write(name))
	}
	failed(page("../docs/CONFIGURATION.md"))
}

func failed(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// page replaces the text after the mark.
func page(file string) error {
	text, err := reference.Page()
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, _, ok := strings.Cut(string(old), reference.Mark)
	if !ok {
		return fmt.Errorf("%s has no line %s", file, reference.Mark)
	}
	return os.WriteFile(file, []byte(before+reference.Mark+text), 0o644)
}

func write(name string) error {
	c, err := compact.Preset(name)
	if err != nil {
		return err
	}
	text, err := reference.Render(c)
	if err != nil {
		return err
	}
	return os.WriteFile(name+".yaml", text, 0o644)
}
