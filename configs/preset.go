package configs

import (
	"embed"
	"fmt"

	"github.com/agentcompact/compact/compact"
)

//go:generate go run ./internal/generate

//go:embed *.yaml
var files embed.FS

// Names returns the names of the presets, the default one first.
func Names() []string { return compact.Presets() }

// Preset returns the file of a preset with every setting, its default and its meaning;
// "" is "graduated". The file includes the sections of registered components
// ([Register]). The caller may modify the bytes.
func Preset(name string) ([]byte, error) {
	c, err := compact.Preset(name)
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile(c.Preset + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("configs: no file for the preset %q: %w", c.Preset, err)
	}
	return withSections(data, registered()), nil
}
