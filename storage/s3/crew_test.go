package s3_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/agentcompact/compact/internal/crew"
	"github.com/agentcompact/compact/storage/s3"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

const crewBucket = "COMPACT_CREW_BUCKET"

// TestProcessOfACrew is one of the processes of the test below; run by itself it
// has nothing to do.
func TestProcessOfACrew(t *testing.T) {
	if !crew.IsProcess() {
		t.Skip("only a process of TestProcessesOfOneSessionOnOneBucket does this; run that test")
	}
	var c s3.Config
	must(t, json.Unmarshal([]byte(os.Getenv(crewBucket)), &c))
	crew.Process(t, open(t, c))
}

// Agents of one session in four processes get the same results as each agent alone.
func TestProcessesOfOneSessionOnOneBucket(t *testing.T) {
	sample(t)
	plain(t, func(t *testing.T, s *s3test.Server) {
		c := s.Config(s.Bucket(t, false))
		conf, err := json.Marshal(c)
		must(t, err)
		crew.Processes(t, 4, "TestProcessOfACrew", open(t, c), crewBucket+"="+string(conf))
	})
}
