package reference

import (
	"os"
	"strings"
	"testing"
)

// `go generate ./configs` writes the page.
func TestPageMatchesTheSettings(t *testing.T) {
	want, err := Page()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("../../../docs/CONFIGURATION.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, have, _ := strings.Cut(string(data), Mark); have != want {
		t.Error("docs/CONFIGURATION.md does not match the settings: go generate ./configs")
	}
	for path := range comments {
		if !strings.Contains(want, "| `"+path+"` |") && !strings.Contains(want, "## "+path+"\n") {
			t.Errorf("%s is not on the page", path)
		}
	}
}
