package effects

import "testing"

func TestSubcommandsOfAnyProgramAreEffects(t *testing.T) {
	for _, s := range []string{"bd create 'fix totals' -p 1", "npm run publish", "npm run release:minor", "npm --prefix web run deploy", "gcloud compute instances delete web-1", "workmux add totals -b",
		"sudo helmfile destroy", "twine upload dist/*", "fly deploy --remote-only", "npx vercel deploy --prod", "az group create --name rg1", "make release", "gh workflow trigger x",
		"aws ec2 stop-instances --instance-ids i-1", "aws elbv2 delete-load-balancer --name x", "aws s3api put-bucket-policy --bucket b"} {
		if !subcommandChanges(s) {
			t.Errorf("%s does not count as an effect", s)
		}
	}
	for _, s := range []string{"grep create app.go", "git add .", "echo create", "ls release", "bd list --status create", "bd create --help", "helm upgrade-create", "aws ec2 describe-instances", "aws s3api get-bucket-policy --bucket b", "helm stop-instances x", "python create", "create", "cat deploy",
		"docker ps -a create", "file release", "decompile release --function_name main", "strings release", "search_dir create", "bd show create", "go test -run create", "terraform plan -out release", "npm run build:release", "npm install", "make test release.txt", "fly deploy --dry-run", "docker compose help create"} {
		if subcommandChanges(s) {
			t.Errorf("%s counts as an effect", s)
		}
	}
}
