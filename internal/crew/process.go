package crew

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// agentVariable, in the environment, makes the test binary a process of one
// agent.
const agentVariable = "COMPACT_CREW_AGENT"

// IsProcess reports whether this process is one of [Processes]. A test for processes
// calls [Process] if IsProcess returns true, and is skipped otherwise.
func IsProcess() bool { return os.Getenv(agentVariable) != "" }

// report is the output of a process.
type report struct {
	Outcome Outcome
	Calls   int64 // calls of the summarizer
}

const mark = "CREW "

func crewOf(agents ...int) *Crew {
	as := func(agent int) compact.Option { return compact.WithAgent(fmt.Sprint("agent-", agent)) }
	return &Crew{Agents: agents, As: as, First: 100, Grow: 30, Calls: 3}
}

// Process works as the agent in the environment, and prints its outcome.
func Process(t testing.TB, a storage.Archive) {
	t.Helper()
	agent, err := strconv.Atoi(os.Getenv(agentVariable))
	if err != nil {
		t.Fatal(err)
	}
	s := &Summarizer{After: 300 * time.Millisecond}
	out, err := json.Marshal(report{crewOf(agent).Work(t, Manager(t, a, s), true), s.Calls.Load()})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%s%s\n", mark, out)
}

// Processes runs the named test of this binary as a given number of agents of one
// session at once, each in a process of its own, and compares the results. The test
// passes the archive, which env may name, to [Process].
func Processes(t *testing.T, agents int, test string, a storage.Archive, env ...string) {
	t.Helper()
	var got Outcome
	var calls int64
	var mu sync.Mutex
	var wg sync.WaitGroup
	for agent := range agents {
		wg.Go(func() {
			r := process(t, agent, test, env)
			mu.Lock()
			defer mu.Unlock()
			got.Add(r.Outcome)
			calls += r.Calls
		})
	}
	wg.Wait()
	all := crewOf()
	for agent := range agents {
		all.Agents = append(all.Agents, agent)
	}
	Compare(t, got, all.Work(t, Manager(t, memory.New(), &Summarizer{}), true), calls)
	Verify(t, a, got.Compactions)
}

func process(t *testing.T, agent int, test string, env []string) (r report) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.timeout=120s")
	cmd.Env = append(append(os.Environ(), agentVariable+"="+strconv.Itoa(agent)), env...)
	out, err := cmd.CombinedOutput()
	_, line, ok := bytes.Cut(out, []byte(mark))
	line, _, _ = bytes.Cut(line, []byte("\n"))
	if err != nil || !ok || json.Unmarshal(line, &r) != nil {
		t.Errorf("the process of agent %d: %v: %s", agent, err, out)
	}
	return r
}
