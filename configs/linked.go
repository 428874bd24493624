package configs

// notLinked completes a sentence about a setting that needs a package which the program does
// not import. Some packages have so many dependencies that only the program can decide
// whether it needs them.
func notLinked(pkg string) string {
	const root = "github.com/agentcompact/compact/configs/"
	return `needs a package that this program does not link: import _ "` + root + pkg + `", or _ "` + root + `all"`
}
