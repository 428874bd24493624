package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/storage/s3/s3test"
)

// The scripts in testdata/s3 run the real command on a real server. $BUCKET is a new
// bucket, $LOCKED is a bucket for Object Lock, and $CONFIG is a configuration file with
// $BUCKET and a spool in ./spool.
func TestScriptsOnS3(t *testing.T) {
	s := s3test.Versitygw(t)
	id, secret := s3test.Keys(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/s3",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			var clean []string
			for _, v := range e.Vars {
				if !strings.HasPrefix(v, "COMPACT_") && !strings.HasPrefix(v, "OPENAI_") {
					clean = append(clean, v)
				}
			}
			bucket := s.Bucket(t, false)
			e.Vars = append(clean, "COLUMNS=80", "BUCKET="+bucket, "LOCKED="+s.Bucket(t, true), "CONFIG="+filepath.Join(e.WorkDir, "s3.yaml"),
				"AWS_ACCESS_KEY_ID="+id, "AWS_SECRET_ACCESS_KEY="+secret, "AWS_REGION=us-east-1", "ENDPOINT="+s.Endpoint,
				"COMPACT_STORAGE_ENDPOINT="+s.Endpoint, "COMPACT_STORAGE_PATH_STYLE=true", compact.ArchiveKeyVariable+"="+testkey.Text)
			return os.WriteFile(filepath.Join(e.WorkDir, "s3.yaml"),
				fmt.Appendf(nil, "storage: {adapter: s3, bucket: %q, prefix: team/agents, spool: spool, timeout: 2s}\n", bucket), 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status": cmdStatus, "agentloop": cmdAgentLoop, "jsonfield": cmdJSONField,
		},
	})
}
