// Generate writes the file of each preset into the folder configs, where
// go generate runs it.
package main

import (
	"fmt"
	"os"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/configs/internal/reference"
)

func main() {
	for _, name := range compact.Presets() {
		if err := write(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
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
