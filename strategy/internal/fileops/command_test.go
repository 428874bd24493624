package fileops

import "testing"

// A relative path in a folder of mktemp is not a file of the session. A path in an unknown folder
// may be one.
func TestFilesOfTemporaryFolders(t *testing.T) {
	for cmd, want := range map[string]string{
		`dir=$(mktemp -d) && cd "$dir" && echo x > conf/a.yaml`:              "",
		`cd $(mktemp -d) && echo x > a.yaml && cd sub && echo y > b.yaml`:    "",
		`cd "$(mktemp -d)" && echo x > /srv/shop/a.yaml`:                     "/srv/shop/a.yaml",
		`dir=$(mktemp -d) && cd ${dir} && touch b.yaml; cd /srv && rm c.txt`: "/srv/c.txt",
		`cd "$(git rev-parse --show-toplevel)" && echo x > conf/a.yaml`:      "conf/a.yaml",
		`cd $SHOP && echo x > conf/a.yaml`:                                   "conf/a.yaml",
	} {
		got := ""
		for _, f := range OfCommand(cmd) {
			got += f.Path
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", cmd, got, want)
		}
	}
}
