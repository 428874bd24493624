package compact_test

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/storage/memory"
)

// Agents of one session, or branches of one agent, don't undo each other's
// decisions: each gets the same results as alone, and no summary is paid for
// twice.
func TestConcurrentAgentsGetTheSameResultsAsAlone(t *testing.T) {
	who := map[string]func(int) compact.Option{
		"agents":   func(a int) compact.Option { return compact.WithAgent(fmt.Sprint("agent-", a)) },
		"branches": func(a int) compact.Option { return compact.WithBranch(fmt.Sprint("branch-", a)) },
	}
	for name, as := range who {
		for _, n := range []int{2, 4, 8} {
			if (testing.Short() || !samples.All()) && (n == 8 || (n == 4) != (name == "agents")) {
				continue // four agents, and two branches
			}
			t.Run(fmt.Sprint(n, " ", name), func(t *testing.T) {
				c := &crew.Crew{As: as, First: 100, Grow: 30, Calls: 3}
				for a := range n {
					c.Agents = append(c.Agents, a)
				}
				synctest.Test(t, func(t *testing.T) { testCrew(t, c) })
			})
		}
	}
}

func testCrew(t *testing.T, c *crew.Crew) {
	s, a := &crew.Summarizer{After: 300 * time.Millisecond}, memory.New()
	m := crew.Manager(t, a, s)
	got := c.Work(t, m, true)
	crew.Compare(t, got, c.Work(t, crew.Manager(t, memory.New(), &crew.Summarizer{}), false), s.Calls.Load())
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}
	crew.Verify(t, a, got.Compactions)
}

const crewDir = "COMPACT_CREW_DIR"

// TestProcessOfACrew is one of the processes of the test below; run by itself it
// has nothing to do.
func TestProcessOfACrew(t *testing.T) {
	if !crew.IsProcess() {
		t.Skip("only a process of TestProcessesOfOneSessionGetTheSameResultsAsAlone does this; run that test")
	}
	crew.Process(t, mustOpen(t, os.Getenv(crewDir)))
}

func TestProcessesOfOneSessionGetTheSameResultsAsAlone(t *testing.T) {
	dir := t.TempDir()
	crew.Processes(t, 4, "TestProcessOfACrew", mustOpen(t, dir), crewDir+"="+dir)
}
