package strategy

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// A script in a here-document or an option changes the files that it writes.
func TestScriptsChangeTheFilesTheyWrite(t *testing.T) {
	for name, c := range map[string]struct {
		cmd  string
		want []string
	}{
		"a variable":       {"python3 - <<'E'\np='src/night.lua'\ns=open(p).read()\nopen(p,'w').write(s.replace('a','b'))\nE\nlua x.lua", []string{"edited src/night.lua"}},
		"pathlib":          {"python - <<'E'\np = pathlib.Path(\"app/export.py\")\np.write_text(p.read_text().replace('1','2'))\nE", []string{"edited app/export.py"}},
		"a new file":       {"cd web && node <<E\nrequire('fs').writeFileSync('data.json', '[]')\nE", []string{"created web/data.json"}},
		"an option":        {`sed -i 's/1/2/' info.json && python3 -c "open('log.txt','a').write('x')" && tail -4 log.txt`, []string{"edited info.json", "edited log.txt", "read log.txt"}},
		"only read":        {"python3 - <<'E'\nprint(open('a.txt').read())\nE", nil},
		"a text for a cat": {"cat > gen.py <<'E'\nopen('out.txt','w').write('x')\nE", []string{"created gen.py"}},
		"a named script":   {"python3 gen.py <<'E'\nopen('out.txt','w')\nE", []string{"ran gen.py"}},
		"unknown variable": {"python3 - <<'E'\nopen(name,'w').write('x')\nE", nil},
	} {
		var got []string
		for _, f := range fileops.OfCommand(c.cmd) {
			got = append(got, f.Op.String()+" "+f.Path)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
