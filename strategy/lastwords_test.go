package strategy

import (
	"strings"
	"testing"
)

func TestOutcomeQuotesLinesWithContent(t *testing.T) {
	for output, want := range map[string]string{
		" state | count\n-------+-------\n idle  |    46\n(1 row)":              "state: idle, count: 46",
		"Performance: 97\nSEO: 92" + strings.Repeat("\naudit 7: pass", 8):       "Performance: 97; SEO: 92 … audit 7: pass",
		"a\nb\nc\nd\ne\nf\ng" + strings.Repeat("\naudit 7: pass", 8):            "audit 7: pass",
		"Performance: 97\nSEO: 92" + strings.Repeat("\naudit 7: pass", 7):       "audit 7: pass",
		"Plan: 3 to add, 0 to change, 1 to destroy.\nSaved the plan to: a.plan": "Plan: 3 to add, 0 to change, 1 to destroy.",
		"deleted from orders\n(12 rows)":                                        "deleted from orders",
		"┌───────┐\n│ email │\n│ a@b.c │\n└───────┘":                            "│ a@b.c │",
		"epoch loss val\nmean error 0.392\n39 648.37 24.86\n":                   "mean error 0.392",
		"0.4123\n":                                                            "0.4123",
		"test 0.4741\ntrain 0.9012\n":                                         "test 0.4741; train 0.9012",
		"0.4931\n['models/v3.bin']":                                           "0.4931; ['models/v3.bin']",
		"✓ 2231 modules built.\nreal\t1m11.020s\n":                            "✓ 2231 modules built.; real 1m11.020s",
		"copied 91022 rejected 44\nstate: 600000":                             "copied 91022 rejected 44; state: 600000",
		"test 0.4741\nsaved":                                                  "saved",
		"4eaf913 fixup! rebuild 2 pages\n25ebb21 docs: 1 page less":           "4eaf913 fixup! rebuild 2 pages",
		"12 files read\nError: 3 files are broken":                            "Error: 3 files are broken",
		"line 1\n2 of 3 passed\nline 3":                                       "line 3",
		"[main 1a2b3c4] fix 3\n 2 files changed, 3 insertions(+)":             "[main 1a2b3c4] fix 3",
		"building\n(the rows of the table were kept)":                         "(the rows of the table were kept)",
		"Step 1\nApply complete! Resources: 2 added.\nOutputs:\nname = \"x\"": "Apply complete! Resources: 2 added.",
		"✓ Keys: fine\nfailed to open the session: no terminal":               "failed to open the session: no terminal",
		"void main(void)\n{\n  seed = hash(\"x\");\n  do {\n    printf(\"%d\", next());\n  } while( true );\n}\n": "",
		"starting\nlisten on port 80;\nready;": "ready;",
		"":                                     "",
	} {
		if got := tellingLine(output); got != want {
			t.Errorf("%q is stated as %q, want %q", output, got, want)
		}
	}
}

func TestOutputAfterAnEffectDoesNotDescribeIt(t *testing.T) {
	for command, want := range map[string]string{
		"git switch -c hotfix && sed -n 1,140p order.py": "",
		"git push origin main && git status":             "",
		"git push origin main":                           "140 y139 = self.place(x)",
	} {
		c := &Call{Tool: "bash", Args: []Arg{{Name: "command", Value: command}}, Answered: true, Outcome: OK, Result: "Switched to a new branch 'hotfix'\n140 y139 = self.place(x)"}
		if got := c.lastWords(); got != want {
			t.Errorf("%q is stated as %q, want %q", command, got, want)
		}
	}
}
