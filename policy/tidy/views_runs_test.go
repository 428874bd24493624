package tidy

import (
	"fmt"
	"testing"
)

// numbered returns n lines of a form with a number in it.
func numbered(form string, from, n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(form, from+i))
	}
	return all
}

func TestReduceLog(t *testing.T) {
	journal := command("journalctl -u api")
	info := numbered("2026-03-04T10:15:%02d INFO request served", 10, 40)
	compare(t, "logs", []view{
		{name: "first occurrences, an error and both ends", call: journal, large: 170, text: together(info[:20], []string{"2026-03-04T10:15:30 WARN the disk is nearly full", "2026-03-04T10:15:30 ERROR cannot connect", "  at connect (db.go:7)"}, info[20:]), want: lines("[tidied — first occurrences, errors, ends, 35 of 43 lines left out]", "2026-03-04T10:15:10 INFO request served", "2026-03-04T10:15:11 INFO request served", "⋮ 3–20", "2026-03-04T10:15:30 WARN the disk is nearly full", "2026-03-04T10:15:30 ERROR cannot connect", "  at connect (db.go:7)", "⋮ 24–40", "2026-03-04T10:15:47 INFO request served", "2026-03-04T10:15:48 INFO request served", "2026-03-04T10:15:49 INFO request served")},
		{name: "what the task names", call: journal, said: "`worker_7`", large: 170, text: together(info[:30], []string{"2026-03-04T10:15:31 INFO request served"}, info[30:31], []string{"2026-03-04T10:15:31 INFO worker_7 went"}, info[31:]), want: lines("[tidied — first occurrences, errors, ends, 34 of 42 lines left out]", "2026-03-04T10:15:10 INFO request served", "2026-03-04T10:15:11 INFO request served", "⋮ 3–31", "2026-03-04T10:15:40 INFO request served", "2026-03-04T10:15:31 INFO worker_7 went", "2026-03-04T10:15:41 INFO request served", "⋮ 35–39", "2026-03-04T10:15:47 INFO request served", "2026-03-04T10:15:48 INFO request served", "2026-03-04T10:15:49 INFO request served")},
		{name: "a file of a log", call: reading("/var/log/api.log"), large: 100, text: together(info), want: lines("[tidied — first occurrences, errors, ends, 37 of 40 lines left out]", "2026-03-04T10:15:10 INFO request served", "⋮ 2–38", "2026-03-04T10:15:48 INFO request served", "2026-03-04T10:15:49 INFO request served")},
		{name: "a file of code", call: reading("/src/times.go"), large: 100, text: together(info), want: "whole"},
		{name: "the events before a failure", call: journal, large: 80, text: together(numbered(`{"msg":"request %d","level":"info"}`, 1, 20), []string{`{"msg":"disk full","level":"error"}`}, numbered(`{"msg":"request %d","level":"info"}`, 21, 20)), want: lines("[tidied — first occurrences, errors, ends, 36 of 41 lines left out]", `{"msg":"request 1","level":"info"}`, "⋮ 2–17", `{"msg":"request 18","level":"info"}`, `{"msg":"request 19","level":"info"}`, `{"msg":"request 20","level":"info"}`, `{"msg":"disk full","level":"error"}`, "⋮ 22–41")},
		{name: "half of the lines", call: journal, large: 60, text: together(info[:10], numbered("words without a number, number %d", 1, 10)), want: lines("[tidied — first occurrences, errors, ends, 17 of 20 lines left out]", "2026-03-04T10:15:10 INFO request served", "⋮ 2–10", "words without a number, number 1", "⋮ 12–19", "words without a number, number 10")},
		{name: "less than half of the lines", call: journal, large: 60, text: together(info[:10], numbered("words without a number, number %d", 1, 11)), want: "whole"},
		{name: "times of a day are no numbers of lines", call: journal, large: 60, text: together(numbered("10:15:%02d INFO request served", 10, 40)), want: lines("[tidied — first occurrences, errors, ends, 37 of 40 lines left out]", "10:15:10 INFO request served", "⋮ 2–38", "10:15:48 INFO request served", "10:15:49 INFO request served")},
		{name: "a frame around it", call: journal, large: 100, text: together([]string{"Exit code 1"}, info), want: lines("[tidied — first occurrences, errors, ends, 37 of 41 lines left out]", "Exit code 1", "2026-03-04T10:15:10 INFO request served", "⋮ 2–38", "2026-03-04T10:15:48 INFO request served", "2026-03-04T10:15:49 INFO request served")},
	})
}

func TestReduceTestRun(t *testing.T) {
	run := numbered("=== RUN   TestCase%d", 1, 20)
	compare(t, "tests", []view{
		{name: "failures and totals", call: command("go test ./..."), large: 120,
			text: together(run, []string{"--- FAIL: TestCase21 (0.01s)", "    case_test.go:7: got 1, want 2", "    case_test.go:8: got 3, want 4"}, run, []string{"FAIL", "FAIL\texample.org/store\t0.312s"}), want: lines("[tidied — failures and totals, 37 of 45 lines left out]", "=== RUN   TestCase1", "=== RUN   TestCase2", "⋮ 3–20", "--- FAIL: TestCase21 (0.01s)", "    case_test.go:7: got 1, want 2", "    case_test.go:8: got 3, want 4", "⋮ 24–42", "=== RUN   TestCase20", "FAIL", "FAIL\texample.org/store\t0.312s")},
		{name: "eight lines behind a failure", call: command("npm test"), large: 200,
			text: together(numbered("✓ case %d passes as it always did", 1, 20), []string{"✗ case 21"}, numbered("    line %d of what was wrong", 1, 10), numbered("✓ case %d passes as it always did", 22, 20), []string{"Tests: 1 failed, 40 passed"}), want: lines("[tidied — failures and totals, 39 of 52 lines left out]", "✓ case 1 passes as it always did", "✓ case 2 passes as it always did", "⋮ 3–20", "✗ case 21", "    line 1 of what was wrong", "    line 2 of what was wrong", "    line 3 of what was wrong", "    line 4 of what was wrong", "    line 5 of what was wrong", "    line 6 of what was wrong", "    line 7 of what was wrong", "⋮ 29–49", "✓ case 40 passes as it always did", "✓ case 41 passes as it always did", "Tests: 1 failed, 40 passed")},
		{name: "more packages than there is room for", call: command("go test ./..."), large: 150,
			text: together(numbered("ok  \texample.org/store/package%d\t0.312s", 1, 20), []string{"--- FAIL: TestLoad (0.01s)", "    load_test.go:7: got 1", "        want 2", "        that is all", "        and more", "FAIL", "FAIL\texample.org/load\t0.312s"}, numbered("ok  \texample.org/store/package%d\t0.312s", 21, 20)), want: lines("[tidied — failures and totals, 37 of 47 lines left out]", "ok  \texample.org/store/package1\t0.312s", "⋮ 2–20", "--- FAIL: TestLoad (0.01s)", "    load_test.go:7: got 1", "        want 2", "        that is all", "        and more", "FAIL", "FAIL\texample.org/load\t0.312s", "⋮ 28–45", "ok  \texample.org/store/package39\t0.312s", "ok  \texample.org/store/package40\t0.312s")},
		{name: "more failures of a TAP run than there is room for", call: command("prove -v"), large: 60,
			text: together([]string{"TAP version 13"}, numbered("not ok %d - writes", 1, 9), numbered("ok %d - reads a file of the store", 10, 20), []string{"not ok 30 - renames", "# fail 10"}), want: lines("[tidied — failures and totals, 20 of 32 lines left out]", "TAP version 13", "not ok 1 - writes", "not ok 2 - writes", "not ok 3 - writes", "not ok 4 - writes", "not ok 5 - writes", "not ok 6 - writes", "not ok 7 - writes", "not ok 8 - writes", "not ok 9 - writes", "⋮ 11–30", "not ok 30 - renames", "# fail 10")},
		{name: "tests that the task names", call: command("go test ./..."), said: "`TestCase13`", large: 60, text: together(run, run, []string{"ok  \texample.org/store\t0.312s"}), want: lines("[tidied — failures and totals, 36 of 41 lines left out]", "=== RUN   TestCase1", "⋮ 2–11", "=== RUN   TestCase12", "=== RUN   TestCase13", "⋮ 14–32", "=== RUN   TestCase13", "⋮ 34–40", "ok  \texample.org/store\t0.312s")},
		{name: "tasks with a prefix", call: command("pnpm -r test"), large: 60,
			text: together(numbered("@scope/name test: ✓ case %d", 1, 20), []string{"@scope/name test: Tests: 20 passed"}), want: lines("[tidied — failures and totals, 19 of 21 lines left out]", "@scope/name test: ✓ case 1", "⋮ 2–20", "@scope/name test: Tests: 20 passed")},
		{name: "a quarter of the lines pass", call: command("./check"), large: 60, text: together(numbered("ok %d", 1, 6), numbered("words of the program, number %d", 1, 18)), want: lines("[tidied — failures and totals, 20 of 24 lines left out]", "ok 1", "ok 2", "ok 3", "⋮ 4–23", "words of the program, number 18")},
		{name: "less than a quarter, and no total", call: command("./check"), large: 60, text: together(numbered("ok %d", 1, 5), numbered("words of the program, number %d", 1, 18)), want: "whole"},
		{name: "a tenth, and a total", call: command("./check"), large: 60, text: together(numbered("ok %d", 1, 2), []string{"Total 2"}, numbered("words of the program, number %d", 1, 17)), want: lines("[tidied — failures and totals, 16 of 20 lines left out]", "ok 1", "ok 2", "Total 2", "⋮ 4–19", "words of the program, number 17")},
		{name: "less than a tenth, and a total", call: command("./check"), large: 60, text: together(numbered("ok %d", 1, 2), []string{"Total 2"}, numbered("words of the program, number %d", 1, 18)), want: "whole"},
		{name: "three totals", call: command("./check"), large: 60, text: together([]string{"Total 2", "== summary ==", "7 warnings"}, numbered("words of the program, number %d", 1, 20)), want: lines("[tidied — failures and totals, 19 of 23 lines left out]", "Total 2", "== summary ==", "7 warnings", "⋮ 4–22", "words of the program, number 20")},
		{name: "two totals", call: command("./check"), large: 60, text: together([]string{"Total 2", "== summary =="}, numbered("words of the program, number %d", 1, 20)), want: "whole"},
		{name: "a file", call: command("cat run.txt"), large: 60, text: together(run, run), want: "whole"},
	})
}

func TestReduceOutputOfUnknownKind(t *testing.T) {
	words := numbered("words of the program, number %d", 1, 30)
	compare(t, "ends", []view{
		{name: "head, tail and headings", call: command("make docs"), said: "`part_two`", large: 150, text: together(words[:15], []string{"## Part one", "it is about part_two"}, words[15:]), want: lines("[tidied — head and tail, 22 of 32 lines left out]", "words of the program, number 1", "words of the program, number 2", "words of the program, number 3", "words of the program, number 4", "⋮ 5–15", "## Part one", "it is about part_two", "words of the program, number 16", "⋮ 19–29", "words of the program, number 28", "words of the program, number 29", "words of the program, number 30")},
		{name: "headings that nothing names", call: command("make docs"), large: 150, text: together(words[:15], []string{"## Part one"}, words[15:25], []string{"==> part.txt"}, words[25:]), want: lines("[tidied — head and tail, 23 of 32 lines left out]", "words of the program, number 1", "words of the program, number 2", "words of the program, number 3", "words of the program, number 4", "⋮ 5–15", "## Part one", "⋮ 17–26", "==> part.txt", "⋮ 28–29", "words of the program, number 28", "words of the program, number 29", "words of the program, number 30")},
		{name: "an error in the middle", call: command("make docs"), large: 110, text: together(words[:15], []string{"error: it broke"}, words[15:]), want: lines("[tidied — head and tail, 24 of 31 lines left out]", "words of the program, number 1", "words of the program, number 2", "words of the program, number 3", "⋮ 4–14", "words of the program, number 15", "error: it broke", "⋮ 17–29", "words of the program, number 29", "words of the program, number 30")},
		{name: "a gap no longer than its mark", call: command("make docs"), large: 50, text: together([]string{"begin"}, numbered("error: number %d", 1, 9), []string{"a line between the errors, of 48 bytes, as it is", "error: the next", "a line between the errors, which has a byte more", "error: the last"}, words[:9]), want: lines("[tidied — head and tail, 9 of 23 lines left out]", "begin", "error: number 1", "error: number 2", "error: number 3", "error: number 4", "error: number 5", "error: number 6", "error: number 7", "error: number 8", "error: number 9", "a line between the errors, of 48 bytes, as it is", "error: the next", "a line between the errors, which has a byte more", "error: the last", "⋮ 15–23")},
	})
}

func TestReduceTable(t *testing.T) {
	rows := numbered("%d|a name|a city", 10, 30)
	compare(t, "tables", []view{
		{name: "head, ends and outliers", call: command("psql -A"), said: "`Nowhere_7`", large: 90, text: together([]string{"id|name|city", "--|----|----"}, rows[:20], []string{"29|Nowhere_7|x", "30|a|b|c"}, rows[20:]), want: lines("[tidied — head, ends and outliers of a table, 24 of 34 lines left out]", "id|name|city", "--|----|----", "10|a name|a city", "11|a name|a city", "⋮ 5–21", "29|a name|a city", "29|Nowhere_7|x", "30|a|b|c", "30|a name|a city", "⋮ 26–32", "38|a name|a city", "39|a name|a city")},
		{name: "an error in a row, and no room", call: command("psql -A"), large: 15, text: together([]string{"id|name|city", "--|----|----"}, rows[:20], []string{"29|error: gone|x"}, rows[20:]), want: lines("[tidied — head, ends and outliers of a table, 32 of 33 lines left out]", "⋮ 1–22", "29|error: gone|x", "⋮ 24–33")},
		{name: "tabs", call: command("psql"), large: 60, text: together(numbered("%d\ta name\ta city", 10, 30)), want: lines("[tidied — head, ends and outliers of a table, 26 of 30 lines left out]", "10\ta name\ta city", "11\ta name\ta city", "⋮ 3–28", "38\ta name\ta city", "39\ta name\ta city")},
		{name: "two columns are no table", call: command("psql"), large: 60, text: together(numbered("%d|a name and a city", 10, 30)), want: "whole"},
		{name: "nineteen rows are no table", call: command("psql"), large: 40, text: together(numbered("%d|a name|a city", 10, 19)), want: "whole"},
		{name: "four fifths of the lines are rows", call: command("psql"), large: 60, text: together(rows[:20], numbered("words of the program, number %d", 1, 5)), want: lines("[tidied — head, ends and outliers of a table, 21 of 25 lines left out]", "10|a name|a city", "11|a name|a city", "⋮ 3–20", "words of the program, number 1", "⋮ 22–24", "words of the program, number 5")},
		{name: "less than four fifths of the lines are rows", call: command("psql"), large: 60, text: together(rows[:20], numbered("words of the program, number %d", 1, 6)), want: "whole"},
	})
}
