package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// A script in a here-document or an option changes the files that it writes.
func TestScriptsChangeTheFilesTheyWrite(t *testing.T) {
	for name, c := range map[string]struct {
		cmd  string
		want []string
	}{
		"a variable":                {"python3 - <<'E'\np='src/night.lua'\ns=open(p).read()\nopen(p,'w').write(s.replace('a','b'))\nE\nlua x.lua", []string{"edited src/night.lua"}},
		"pathlib":                   {"python - <<'E'\np = pathlib.Path(\"app/export.py\")\np.write_text(p.read_text().replace('1','2'))\nE", []string{"edited app/export.py"}},
		"a new file":                {"cd web && node <<E\nrequire('fs').writeFileSync('data.json', '[]')\nE", []string{"created web/data.json"}},
		"an option":                 {`sed -i 's/1/2/' info.json && python3 -c "open('log.txt','a').write('x')" && tail -4 log.txt`, []string{"edited info.json", "edited log.txt", "read log.txt"}},
		"only read":                 {"python3 - <<'E'\nprint(open('a.txt').read())\nE", nil},
		"a text for a cat":          {"cat > gen.py <<'E'\nopen('out.txt','w').write('x')\nE", []string{"created gen.py"}},
		"a named script":            {"python3 gen.py <<'E'\nopen('out.txt','w')\nE", []string{"ran gen.py"}},
		"an option on top of lines": {"cd C:/shop && python3 -c \"\np = 'cart.py'\nopen(p,'w').write('x')\n\"\ncat cart.py", []string{"created C:/shop/cart.py", "read C:/shop/cart.py"}},
		"unknown variable":          {"python3 - <<'E'\nopen(name,'w').write('x')\nE", nil},
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

// A script that raised an exception wrote only the files before the line that raised it. A script
// with a syntax error wrote none.
func TestStoppedScriptDidNotChangeTheFilesAfter(t *testing.T) {
	const script = "python3 - <<'E'\nopen('a.py','w').write('1')\nassert 'x' in open('c.py').read()\nopen('b.py','w').write('2')\nE\ncat c.py"
	for name, c := range map[string]struct {
		output string
		want   []string
	}{
		"it ran":       {"y", []string{"edited a.py", "edited b.py", "read c.py"}},
		"an exception": {"begin\nTraceback (most recent call last):\n  File \"<stdin>\", line 2, in <module>\nAssertionError\ny", []string{"created a.py", "read c.py"}},
		"of a module":  {"begin\nTraceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\n  File \"/usr/lib/x.py\", line 9, in write\nOSError: full\ny", []string{"read c.py"}},
		"syntax":       {"  File \"<stdin>\", line 3\n    open(\nSyntaxError: '(' was never closed\ny", []string{"read c.py"}},
		"another file": {"  File \"x.py\", line 3\nSyntaxError: invalid syntax", []string{"edited a.py", "edited b.py", "read c.py"}},
	} {
		var got []string
		for _, f := range fileOps(ranCommand(script, c.output)) {
			got = append(got, f.Op.String()+" "+f.Path)
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A file that a pipe has shown existed before: a script that writes it later edits it.
func TestShownFileIsNotCreated(t *testing.T) {
	const write = `{"command":"python3 -c 'f = open(\"tax.py\", \"w\"); f.write(x)'"}`
	tells(t, long("Mend the tax.", ranCalls(
		[3]string{"bash", `{"command":"nl -ba tax.py | sed -n '3,4p'"}`, "     3\tdef tax(net):\n     4\t    return net * 0.2\n"},
		[3]string{"bash", write, ""},
	)...), []string{"`tax.py`: edited"}, []string{"`tax.py`: created"})
	tells(t, long("Mend the tax.", ranCalls(
		[3]string{"bash", `{"command":"nl -ba tax.py | head -3"}`, "nl: tax.py: No such file or directory\n"},
		[3]string{"bash", write, ""},
	)...), []string{"`tax.py`: created"}, nil)
}

// A patch changes the files that the output of the program names. The last step quotes what the
// script printed.
func TestSummaryStatesPatchedFilesAndLastRun(t *testing.T) {
	in := long("Mend the tax.", ranCalls(
		[3]string{"bash", `{"command":"patch -p1 --dry-run < fix.patch"}`, "patching file src/dry.py\n"},
		[3]string{"bash", `{"command":"cd /src && patch -p1 < fix.patch"}`, "patching file src/tax.py\nHunk #1 succeeded at 110 (offset -3 lines).\npatching file src/rates.py\nHunk #1 FAILED at 7.\n1 out of 1 hunk FAILED -- saving rejects to file src/rates.py.rej\n"},
	)...)
	in.Messages = append(in.Messages,
		message.Assistant("Now I'll test if it rounds.", message.Call("9", "bash", `{"command":"cat > try.py << 'EOF'\nprint(tax(7))\nEOF\n\npython try.py 2>&1 | grep -v note"}`)),
		message.ToolResult("9", "tax: 1.4 (expected: 1)\n"))
	tells(t, in, []string{"`src/tax.py`: edited", "the last step: Now I'll test if it rounds. — created `try.py`, then ran `python try.py 2>&1`, which printed: tax: 1.4 (expected: 1)"}, []string{"dry.py`: edited", "rates.py`: edited"})
}

// A script that the agent wrote into a file changes files when it runs. If it prints that it
// found nothing, it changes nothing.
func TestScriptThatRanChangesFiles(t *testing.T) {
	const script = `cat > mend.py <<'EOF'\ntext = open(\"tax.py\").read()\nwith open(\"tax.py\", \"w\") as f:\n    f.write(text.replace(\"a\", \"b\"))\nEOF\n`
	tells(t, long("Mend the tax.", ranCalls(
		[3]string{"bash", `{"command":"cd /src && ` + script + `"}`, ""},
		[3]string{"bash", `{"command":"cd /src && python mend.py"}`, ""},
	)...), []string{"tax.py`: edited [s6]"}, nil)
	tells(t, long("Mend the tax.", ranCalls(
		[3]string{"bash", `{"command":"cd /shop && sed -i '470s/a/b/' ./src/tax.py"}`, ""},
		[3]string{"bash", `{"command":"cd /shop && ls src"}`, "tax.py"},
		[3]string{"bash", `{"command":"cd /shop && ` + strings.ReplaceAll(script, "tax.py", "./src/tax.py") + `python mend.py"}`, "Fix applied"},
	)...), []string{"`/shop/src/tax.py`: edited twice [s8]"}, nil)
	tells(t, long("Mend the tax.", ranCalls([3]string{"bash", `{"command":"` + script + `python mend.py"}`, "ok"})...), []string{"tax.py`: edited [s4]"}, nil)
	tells(t, long("Mend the tax.", ranCalls(
		[3]string{"write_file", `{"path":"mend.js","content":"fs.writeFileSync('tax.json', x)"}`, "OK"},
		[3]string{"bash", `{"command":"node mend.js"}`, "done"},
	)...), []string{"tax.json`: created [s6]"}, nil)
	for _, result := range []string{"text not found", "Traceback (most recent call last):\n  File \"mend.py\", line 1\nValueError: x"} {
		tells(t, long("Mend the tax.", ranCalls(
			[3]string{"bash", `{"command":"` + script + `"}`, ""},
			[3]string{"bash", `{"command":"python mend.py"}`, result},
		)...), nil, []string{"tax.py`: edited"})
	}
}
