package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The sentence that leads to a list appears once, before the kept items with their numbers.
// It is not repeated before the second sentence of an item.
func TestListLeadAppearsOnce(t *testing.T) {
	tells(t, long("Why can't I see my runs?", message.Assistant("Likely one of these is true:\n\n1. You are expecting drafts to appear. They will not. Publish them first.\n2. The run never produced a summary file.\n\nThen restart the dashboard.")),
		[]string{"Likely one of these is true: 1. You are expecting drafts to appear. They will not. Publish them first. 2. The run never produced a summary file. Then restart the dashboard."},
		[]string{"is true: They will not", "is true: The run"})
}

// A sentence with a colon before code introduces the code and not the next items.
func TestColonBeforeCodeStartsNoList(t *testing.T) {
	tells(t, long("Update the message.", message.Assistant("What was done:\n1. Updated the warning in `hooks.go` to the friendlier format:\n   ```\n   Another session runs.\n   ```\n\n2. Removed the unused variables `a` and `b`\n3. Removed the unused imports of both files\n")),
		[]string{"1. Updated the warning in `hooks.go` to the friendlier format: “Another session runs.” 2. Removed the unused variables"}, nil)
}

// Each of two lists has its own introduction. A list inside an item ends with the item.
func TestEachListHasItsOwnLead(t *testing.T) {
	tells(t, long("What changed?", message.Assistant("Changes:\n\n- **Backend**:\n  - `api.go`: the route takes a cursor.\n    It is optional.\n  - `db.go`: an index on the column of the date.\n- The list loads more rows on scroll.\n\nNot touched:\n- `legacy.go` and what it imports")),
		[]string{"Changes: Backend: `api.go`: the route takes a cursor. It is optional. `db.go`: an index on the column of the date. The list loads more rows on scroll. Not touched: `legacy.go` and what it imports"}, nil)
}

// A sentence from inside an item is quoted after the head of the item. Omitted sentences of
// a list leave a mark, even at the end of the list.
func TestItemSentenceIncludesHead(t *testing.T) {
	b := quoting{h: &History{index: newIndex()}, step: &Step{ID: 2}, most: 60, value: 1, factor: 1, group: "[s2] told the user"}
	passages("Worth a change:\n1. `spawn.go:64` - The log file stays open. Close it on the error path.\n2. `review.go:237` - Errors are swallowed. It should return the error.\n3. `wait.go:9` - The timer is never stopped.", b.answered)
	for i, l := range b.out {
		if strings.HasPrefix(l.Text, "It should return") {
			c := &composer{strategy: taskState, history: b.h, index: b.h.index, spent: make([]int, 9)}
			c.chosen = []*candidate{{Line: l, nth: i}}
			want := "[s2] told the user: … Worth a change: 2. `review.go:237` - Errors are swallowed. It should return the error. …"
			if got := c.document().Sections[0][0]; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			return
		}
	}
	t.Errorf("the items are %+v", b.out)
}

// Equal short items appear under each of their heads.
func TestEqualShortItemsKeepTheirHeads(t *testing.T) {
	tells(t, long("Review it.", message.Assistant("Not worth a change:\n1. `review.go:211` - The base parameter is unused. Fine as it is now.\n2. `settings.go:33` - The field has no documentation. Fine as it is now.")),
		[]string{"parameter is unused. Fine as it is now. 2. `settings.go:33` - The field has no documentation. Fine as it is now."}, nil)
}

// The sentence that leads to a pasted list also appears once.
func TestPastedListLeadAppearsOnce(t *testing.T) {
	s := &Step{ID: 1, Shown: "The following is required:\n- The patch touches no test of the suite. Other files may change where they must.\n- The patch applies to the main branch."}
	got := ""
	for _, l := range s.shownLines(0) {
		got += l.Text + "\n"
	}
	if strings.Count(got, "is required:") != 1 || !strings.Contains(got, "Other files may change") {
		t.Errorf("the lead does not appear once:\n%s", got)
	}
}

// A short output has a mark for each omitted line. A word in a path does not cause an
// omission.
func TestWholeOfMarksOmittedLines(t *testing.T) {
	if got := wholeOf("M web/error-messages.ts\nM web/api.ts\n3 tests failed\n?? docs/exit.md\n", wholeResult); got != "M web/error-messages.ts; M web/api.ts; …; ?? docs/exit.md" {
		t.Errorf("got %q, want a mark for each omitted line", got)
	}
	var long strings.Builder
	for i := range 30 {
		long.WriteString("M internal/worker/part" + itoa(i) + ".go\n")
	}
	if got := wholeOf(long.String(), wholeResult); !strings.HasSuffix(got, "; … (+20 more)") || !strings.HasPrefix(got, "M internal/worker/part0.go; M") {
		t.Errorf("got %q, want the number of omitted lines at the end", got)
	}
}

// The list of the changed files has no gap.
func TestChangedFilesAreListedWithoutGap(t *testing.T) {
	var status strings.Builder
	for i := range 14 {
		status.WriteString(" M internal/worker/queue/part" + itoa(i) + ".go\n")
	}
	for command, whole := range map[string]bool{"git status --short": true, "git diff --name-only": true, "git worktree list": false} {
		c := Call{Tool: "bash", Args: []Arg{{"command", command}}, Result: status.String()}
		if got := c.shows(); strings.Contains(got, "part13.go") != whole {
			t.Errorf("%s: part13.go is listed or not, want the opposite: %q", command, got)
		}
	}
}

// A long listing of files is reduced to the names, without permissions and owners.
func TestWholeOfListsOnlyNamesOfLongListing(t *testing.T) {
	got := wholeOf("total 24\ndrwxr-xr-x  4 ann staff  128 Mar  3 10:11 .\ndrwxr-xr-x 12 ann staff  384 Mar  3 10:11 ..\n-rw-r--r--@ 1 ann staff 2.1K Mar  3 10:11 api.go\nlrwxr-xr-x  1 ann staff   11 Mar  3  2024 now -> api.go\n", wholeResult)
	if got != "api.go; now -> api.go" {
		t.Errorf("got %q, want only the names", got)
	}
}

func TestLabeledItemsKeepTheirHeading(t *testing.T) {
	for _, head := range []string{"**Harbor Soup**", "### Harbor Soup", "**Harbor Soup:**"} {
		b := quoting{h: &History{index: newIndex()}, step: &Step{ID: 2}, most: 60, value: 1, factor: 1, group: "[s2] told the user"}
		passages("Two dishes of the coast were found.\n\n"+head+"\n\n* **Ingredients:** Cod, potatoes, cream and a little dill from the garden.\n* **Preparation:** Simmer the potatoes first, then the cod.\n\n**Pier Bread**\n\nIt is baked twice and keeps for a week at sea.", b.answered)
		got := map[string][]string{}
		for _, l := range b.out {
			if l.place != nil {
				got[strings.Fields(l.Text)[0]] = l.place.leads
			}
		}
		if len(got["Ingredients:"]) != 1 || got["Ingredients:"][0] != "Harbor Soup:" || len(got["Preparation:"]) != 1 {
			t.Errorf("%s: the items lost their heading: %q", head, got)
		}
	}
}

func TestSentenceAfterCodeKeepsItsBeginning(t *testing.T) {
	b := quoting{h: &History{index: newIndex()}, step: &Step{ID: 2}, most: 60, value: 1, factor: 1, group: "[s2] told the user"}
	passages("The grader reads the assertions of a case.\nSo if you have:\n```yaml\n- type: contains\n  value: an answer that is long enough for the block to be left out of the summary\n  weight: 0.125\n  required: true\n```\nthe grader is never called.\nSo if there are none:\n```yaml\n[]\n```\nThe grader is called once for each case.", b.answered)
	var got []string
	for _, l := range b.out {
		got = append(got, l.Text)
	}
	if all := strings.Join(got, "|"); !strings.Contains(all, "|So if you have: [code] the grader is never called.|") || !strings.Contains(all, "|So if there are none: “[]”|") || !strings.HasSuffix(all, "|The grader is called once for each case.") {
		t.Errorf("got %q, want the beginning of the sentence before the code", got)
	}
}

func TestBulletHasEachSentenceOnce(t *testing.T) {
	c := newComposer(taskState, NewHistory(Request{Strategy: taskState}), 400, func(s string) int { return len(s) / 4 })
	const twice = "the reference data of the case is kept for graders that read it."
	lines := []Line{{Section: 6, Group: "[s2] told the user", Text: twice, Value: 2}, {Section: 6, Group: "[s2] told the user", Text: twice, Value: 2, place: &listed{leads: []string{"It is not used, unless you have:"}, list: 1, item: 1, seq: 1, of: new(int)}}}
	if text := c.compose(lines).Render(taskState); strings.Count(text, twice) != 1 {
		t.Errorf("the sentence does not occur once:\n%s", text)
	}
}

func TestHeadOfAnItemIsNotRepeated(t *testing.T) {
	const head = "The reference data of the case is kept for graders."
	b := sharedBullet{told: map[groupKey]bool{}}
	b.add(&candidate{Line: Line{Group: "[s2] told the user", Text: head}})
	b.add(&candidate{nth: 4, Line: Line{Group: "[s2] told the user", Text: "It is read by graders that ask for it.", place: &listed{list: 1, item: 1, seq: 2, head: head, of: new(int)}}})
	if strings.Count(b.text, head) != 1 {
		t.Errorf("the head does not occur once:\n%s", b.text)
	}
}

// An item inside an item is quoted after the outer item, even if the outer item alone has little
// content.
func TestInnerItemFollowsItsOuterItem(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		b.WriteString(itoa(i+1) + ". **Train " + itoa(i+1) + "**\n   - Departure: " + itoa(10+i) + ":05, track " + itoa(i+3) + "\n   - Fare: " + itoa(31+i) + " EUR\n\n")
	}
	tells(t, long("Find me a train.", message.Assistant("Here are the trains:\n\n"+b.String()+"Which one do you want?"), message.User("The fourth.")),
		[]string{"4. Train 4: Departure: 13:05, track 6; Fare: 34 EUR"}, []string{"Train 4 4. Train 4", "Train 4; 4. Train 4"})
}

// An item that contains a list under a heading is stated once, although it is a line and also
// introduces the list.
func TestItemWithAListIsStatedOnce(t *testing.T) {
	text := write4(t, long("Log the agent.", message.Assistant("Done. I added the agent to the log.\n\n**Files changed:**\n\n1. **`log/context.go`**\n   - Added `WithAgent`, which stores the name of the agent\n2. **`log/logger.go`**\n   - `attrs` returns the name of the agent\n\nThe agent is in each line now.")))
	for _, file := range []string{"`log/context.go`", "`log/logger.go`"} {
		if strings.Count(text, file) != 1 {
			t.Errorf("%s is not stated exactly once:\n%s", file, text)
		}
	}
}
