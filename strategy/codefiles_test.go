package strategy

import (
	"encoding/json"
	"testing"

	"github.com/agentcompact/compact/message"
)

func ranCode(tool, language, code, result string) Input {
	args, _ := json.Marshal(map[string]string{"language": language, "code": code})
	return long("Prepare the figures.", message.Assistant("", message.Call("1", tool, string(args))), message.ToolResult("1", result))
}

// Files that the code of a notebook writes are changed files, in the ways of the common libraries.
func TestCodeOfANotebookChangesTheFilesItWrites(t *testing.T) {
	for code, file := range map[string]string{
		"df.groupby('k').sum().to_csv('out/totals.csv', index=False)":                       "out/totals.csv",
		"target = Path('out')\n(target / 'notes.md').write_text('a')":                       "out/notes.md",
		"fig.savefig(fname='plots/a.png', dpi=150)":                                         "plots/a.png",
		"from openpyxl import Workbook\nwb = Workbook()\nwb.save('out/sheet.xlsx')":         "out/sheet.xlsx",
		"torch.save(model.state_dict(), 'ckpt/last.pt')":                                    "ckpt/last.pt",
		"p <- 'out/fit.rds'\nsaveRDS(fit, p)":                                               "out/fit.rds",
		"write_csv(totals, \"out/r.csv\")":                                                  "out/r.csv",
		"await fs.promises.writeFile('out/data.json', JSON.stringify(rows))":                "out/data.json",
		"!wget -q https://example.org/a.csv\n!cp a.csv data/a.csv\nimport pandas as pd\n":   "data/a.csv",
		"with open('log/run.txt', 'a') as f:\n    f.write('x')\ndf[['b', 'amount']].head()": "log/run.txt",
	} {
		tells(t, ranCode("execute_code", "", code, "done"), []string{"`" + file + "`: "}, nil)
	}
}

// Code that raised an exception changed only the files before that line. Comparisons in code are
// no redirections, and a command line in the argument is a command line.
func TestCodeThatStoppedDidNotWriteTheFilesAfter(t *testing.T) {
	code := "a.to_csv('one.csv')\nb.to_csv('two.csv')\nc.to_csv('three.csv')"
	stopped := "---------------------------------------------------------------------------\nNameError                                 Traceback (most recent call last)\nCell In[4], line 2\n      1 a.to_csv('one.csv')\n----> 2 b.to_csv('two.csv')\n\nNameError: name 'b' is not defined"
	tells(t, ranCode("run_cell", "python", code, stopped), []string{"`one.csv`: created"}, []string{"`two.csv`: created", "`three.csv`: created", "created two", "created three"})
	tells(t, ranCode("run_cell", "python", code, stopped), []string{"failed: NameError: name 'b' is not defined"}, []string{"was refused"})
	tells(t, ranCode("run_cell", "python", code, "Traceback (most recent call last):\nNameError: name 'a' is not defined"), nil, []string{"`one.csv`: created"})
	tells(t, ranCode("run_cell", "", "df[df.a > df.b.c]\nx = 1", "3 rows"), nil, []string{"df.b.c`", "created"})
	tells(t, ranCode("execute", "bash", "echo a > out/a.txt", "done"), []string{"`out/a.txt`: created"}, nil)
}
