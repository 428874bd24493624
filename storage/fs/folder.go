package fs

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// ErrURL means that a folder was named by a URL other than file://.
var ErrURL = errors.New("the URL names no folder")

var (
	schemed    = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]+)://`)
	unexpanded = regexp.MustCompile(`^(~|\$\w+|\$\{\w+\}|%\w+%)([/\\]|$)`)
	drive      = regexp.MustCompile(`^[A-Za-z]:[/\\]`)
)

// Folder returns the path of a folder that is named by a path or by a file URL with an
// absolute path. It returns an error for a name that is probably not meant as a path,
// because a folder of that name would otherwise be created unnoticed. Such names are
// other URLs, a leading ~ or variable (which only a shell expands), and a drive of
// Windows on another system. [Open] accepts the same names.
func Folder(name string) (string, error) { return folderOn(runtime.GOOS, name) }

func folderOn(system, name string) (string, error) {
	if len(name) >= 5 && strings.EqualFold(name[:5], "file:") {
		return fromURL(system, name)
	}
	if m := schemed.FindStringSubmatch(name); m != nil {
		return "", fmt.Errorf("is a URL of %s, which is not supported: %w; name a folder, or file:// and an absolute path", m[1], ErrURL)
	}
	if m := unexpanded.FindStringSubmatch(name); m != nil {
		return "", fmt.Errorf("begins with %s, which only a shell expands: name the whole path", m[1])
	}
	if system != "windows" && drive.MatchString(name) {
		return "", errors.New("is a path of Windows, but this system is not Windows: name a folder of this system")
	}
	return name, nil
}

// fromURL returns the path of a file URL.
func fromURL(system, name string) (string, error) {
	u, err := url.Parse(name)
	if err != nil || u.RawQuery != "" || u.Fragment != "" || u.Host != "" && u.Host != "localhost" || !strings.HasPrefix(u.Path, "/") {
		return "", errors.New("is not a file URL of this machine with an absolute path, such as file:///var/lib/compact")
	}
	path := u.Path
	if system == "windows" {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
	}
	return path, nil
}
