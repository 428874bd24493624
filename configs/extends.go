package configs

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Keys that are not settings. They control how files and calls share settings.
const (
	extendsKey   = "extends"
	lockedKey    = "locked"
	overridesKey = "overrides"
)

var specialKeys = []string{extendsKey, lockedKey, overridesKey}

// special reads one of these keys at the top level of a file.
func (f *file) special(key string, line int, n *yaml.Node) {
	switch key {
	case extendsKey:
		name, ok := fromNode(kindString, n)
		if !ok || name == "" {
			f.fail(line, key, plain(n), "must name a file, such as base.yaml", nil)
			return
		}
		f.extends, f.extendsLine = name.(string), line
	case lockedKey:
		f.lock(line, n)
	case overridesKey:
		f.override(line, n)
	}
}

// chain reads a file and the files that it extends, and returns them with the
// base first.
func (l *loader) chain(name string, data []byte) []*file {
	var all []*file
	var visited []string
	for {
		f := readFile(name, data, &l.report)
		all = append([]*file{f}, all...)
		visited = append(visited, identity(name))
		if f.extends == "" {
			return all
		}
		base := f.extends
		if !filepath.IsAbs(base) {
			base = filepath.Join(filepath.Dir(name), base)
		}
		if i := slices.Index(visited, identity(base)); i >= 0 {
			f.fail(f.extendsLine, extendsKey, nil, "forms a cycle: "+circle(all, i, base), nil)
			return all
		}
		var err error
		if data, err = readBase(base); err != nil {
			f.fail(f.extendsLine, extendsKey, nil, "names "+base+", which can't be read: "+cause(err).Error()+" (the name is relative to the folder of this file)", err)
			return all
		}
		name = base
	}
}

// readBase reads a file. It refuses anything that is not a regular file, because reading
// a device or a pipe may never end.
func readBase(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	return os.ReadFile(name)
}

// circle names the files of a cycle that ends with last. all has the base first;
// i counts from its end.
func circle(all []*file, i int, last string) string {
	var names []string
	for k := len(all) - 1 - i; k >= 0; k-- {
		names = append(names, all[k].name)
	}
	return strings.Join(append(names, last), " → ")
}

// identity returns the same name for all names of one file.
func identity(name string) string {
	if full, err := filepath.Abs(name); err == nil {
		name = full
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	return name
}

// cause returns the error of a file operation without the file name.
func cause(err error) error {
	if pe := new(os.PathError); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
