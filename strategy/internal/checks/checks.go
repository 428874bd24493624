package checks

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// Commands lists beginnings of commands that test, build or lint.
var Commands = []string{"go test", "go build", "go vet", "pytest", "python -m pytest", "python3 -m pytest", "python -m unittest", "python3 -m unittest", "npm test", "npm t ", "npm run test",
	"npm run build", "npm run lint", "npm run check", "npm run type", "pnpm test", "pnpm build", "pnpm lint", "pnpm check", "pnpm typecheck", "pnpm run", "yarn test", "yarn build", "yarn lint", "yarn check", "yarn typecheck",
	"cargo test", "cargo build", "cargo check", "cargo clippy", "make test", "make build", "make check", "make lint", "just test", "just build", "just check", "just lint", "task test", "task build", "task lint",
	"tsc", "vue-tsc", "eslint", "biome check", "biome ci", "biome lint", "prettier --check", "jest", "vitest", "mvn ", "./gradlew", "gradle ", "dotnet test", "dotnet build", "bun test",
	"bun run test", "bun run build", "bun run lint", "bun run check", "bun run type", "bunx tsc", "bunx biome", "bunx eslint", "bunx vitest", "bunx jest", "deno test", "deno check", "deno lint",
	"tox", "rspec", "bundle exec rspec", "phpunit", "ruff", "mypy", "pyright", "flake8", "pylint", "black --check", "golangci-lint", "npx tsc", "npx vue-tsc", "npx eslint", "npx biome", "npx prettier --check", "npx jest", "npx vitest", "npx playwright",
	"ctest", "swift test", "swift build", "bazel test", "bazel build", "mise run test", "mise run lint", "mise run build", "mise run check", "nx ", "python manage.py test", "./tests/runtests.py", "python tests/runtests.py", "uv run pytest", "poetry run pytest",
	"xcodebuild ", "./mvnw ", "pest", "php artisan test", "mix test", "mix compile", "rake test", "rake spec", "bundle exec rake test", "bundle exec rake spec", "rails test", "bin/rails test", "bundle exec rails test", "flutter test", "flutter analyze", "dart test", "dart analyze", "sbt test", "composer test"}

// Begins reports whether a simple command in lower case is a check.
func Begins(simple string) bool {
	return prose.BeginsAny(simple, Commands) || prose.BeginsAny(strings.Join(shell.OfProject(strings.Fields(simple)), " "), Commands)
}
