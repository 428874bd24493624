package strategy

import (
	"strings"
	"testing"
)

// The subcommand determines whether a command has an effect, whatever options precede it. A
// command that only shows what it would do has no effect.
func TestSubcommandDecidesTheEffectOfAProgram(t *testing.T) {
	for _, c := range []struct{ cmd, result, want string }{
		{"kubectl -n shop set image deploy/api api=r/api:v4", "deployment.apps/api image updated", "done"},
		{"kubectl --context prod --namespace=shop delete pod api-1", "pod \"api-1\" deleted", "done"},
		{"kubectl delete pods -l app=web", "pod \"web-1\" deleted", "done"},
		{"kubectl -n shop get pods", "api-1 Running", "no effect"},
		{"kubectl apply --dry-run=server -f d.yaml", "deployment.apps/api configured (server dry run)", "no effect"},
		{"kubectl rollout status deploy/api", "deployment \"api\" successfully rolled out", "no effect"},
		{"git -C sub -c user.name='A B' commit -m x", "[main 1a2b3c4] x", "done"},
		{"git -C sub log", "1a2b3c4 x", "no effect"},
		{"git commit -n -m x", "[main 1a2b3c4] x", "done"},
		{"git push -n", "To x\n   1a2b3c4..5d6e7f8  main -> main", "no effect"},
		{"git revert --no-edit aa11bb2", "[main cc22dd3] Revert \"x\"", "done"},
		{"zfs destroy tank/a@1", "will destroy tank/a@1", "done"},
		{"zfs destroy -nv tank/a@1", "would destroy tank/a@1", "no effect"},
		{"deploy create site", "Would create site", "no effect"},
		{"ansible-playbook site.yml", "ok=12 changed=3 failed=0", "done"},
		{"ansible-playbook site.yml --check", "ok=12 changed=3 failed=0", "no effect"},
		{"rsync -a dist/ web:/var/www/", "sent 1,200 bytes", "done"},
		{"rsync -an dist/ web:/var/www/", "sent 1,200 bytes (DRY RUN)", "no effect"},
		{"rsync -a web:/var/www/ copy/", "sent 1,200 bytes", "no effect"},
		{"aws --profile p s3 rm s3://b/k", "delete: s3://b/k", "done"},
		{"aws s3 cp a.zip s3://b/a.zip", "upload: ./a.zip to s3://b/a.zip", "done"},
		{"aws s3 cp s3://b/a.zip a.zip", "download: s3://b/a.zip to ./a.zip", "no effect"},
		{"psql -c \"DELETE FROM t WHERE id=4\"", "DELETE 1", "done"},
		{"psql -c \"DELETE FROM t WHERE id=4\"", "DELETE 0", "no effect"},
		{"psql -f m.sql", "CREATE TABLE\nINSERT 0 3", "done"},
		{"psql -c \"select * from created\"", "DELETE | 4\n(1 row)", "no effect"},
		{"cat psql.log", "DELETE 1", "no effect"},
		{"crontab new.txt", "", "done"},
		{"crontab -l", "0 3 * * * backup", "no effect"},
		{"docker volume rm v", "Error response from daemon: remove v: volume is in use", "failed"},
		{"terraform plan", "Plan: 2 to add, 0 to change, 1 to destroy.", "no effect"},
		{"terraform -chdir=prod apply -auto-approve", "Apply complete! Resources: 2 added", "done"},
	} {
		if got := toldAs(calledTool("bash", c.result, "command", c.cmd)); got != c.want {
			t.Errorf("%q: %s, want %s", c.cmd, got, c.want)
		}
	}
}

// A program that ends its output with an error after its own name failed. The same words in
// a file do not count as an error.
func TestProgramSaysError(t *testing.T) {
	for _, c := range []struct {
		cmd, result string
		want        bool
	}{
		{"tar -cf - old | zstd -9 -o /mnt/old.zst", strings.Repeat("old.tar : 7%\n", 60) + "zstd: error 70 : Write error : cannot write block : No space left on device", true},
		{"cat notes.txt", strings.Repeat("a line\n", 60) + "zstd: error 70 : Write error", false},
		{"zstd -9 a", "a : 40%", false},
	} {
		if got := calledTool("bash", c.result, "command", c.cmd).Outcome == Failed; got != c.want {
			t.Errorf("%q failed: %v, want the opposite", c.cmd, got)
		}
	}
	if c := calledTool("dim_lamp", `{"ok": false, "error": "no such lamp"}`, "room", "R1"); c.Outcome != Failed {
		t.Error("a result with success false does not count as a failure")
	}
}
