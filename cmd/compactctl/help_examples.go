package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// helpExamples holds the --help examples of commands that do not define theirs in
// their own file, by the path of the command after compactctl.
var helpExamples = map[string]string{
	"preflight":       "compactctl preflight session.jsonl --model gpt-4o --out view.jsonl",
	"dry-run":         "compactctl dry-run session.jsonl --max-context-tokens 32k",
	"diff":            "compactctl diff session.jsonl --preset economy --max-context-tokens 32k",
	"tokens":          "compactctl tokens session.jsonl --model gpt-4o\ncompactctl tokens - < request.json",
	"redact":          "compactctl redact build.log > clean.log",
	"eval-summary":    "compactctl eval-summary sessions/*.jsonl --model gpt-4o",
	"validate-config": "compactctl validate-config compact.yaml --try",
	"create-config":   "compactctl create-config --preset economy > compact.yaml",
	"version":         "compactctl version --json",
	"completion":      "compactctl completion bash > /etc/bash_completion.d/compactctl",

	"archive":               "compactctl archive ls\ncompactctl archive show 3f9a2c1b70de0c11\ncompactctl archive search \"disk quota\"",
	"archive access":        "compactctl archive access",
	"archive add":           "compactctl archive add session.jsonl --session ticket-4711",
	"archive erase":         "compactctl archive erase ticket-4711 --yes",
	"archive export":        "compactctl archive export ticket-4711 --out ticket-4711.tar.gz",
	"archive flush":         "compactctl archive flush --config compact.yaml",
	"archive heads":         "compactctl archive heads --out heads.jsonl",
	"archive hold":          "compactctl archive hold ticket-4711",
	"archive ls":            "compactctl archive ls --json",
	"archive prune":         "compactctl archive prune --older-than 90d",
	"archive recall":        "compactctl archive recall ticket-4711 3f9a2c1b70de\ncompactctl archive recall ticket-4711 turn:17",
	"archive rekey":         "compactctl archive rekey",
	"archive show":          "compactctl archive show ticket-4711\ncompactctl archive show ticket-4711 summary-001.json",
	"archive stats":         "compactctl archive stats --json",
	"archive subjects":      "compactctl archive subjects find alice@example.com",
	"archive verify":        "compactctl archive verify\ncompactctl archive verify ticket-4711 --require-proof",
	"completion bash":       "compactctl completion bash > /etc/bash_completion.d/compactctl",
	"completion zsh":        "compactctl completion zsh > \"${fpath[1]}/_compactctl\"",
	"completion fish":       "compactctl completion fish > ~/.config/fish/completions/compactctl.fish",
	"completion powershell": "compactctl completion powershell | Out-String | Invoke-Expression",
	"help":                  "compactctl help archive show",
}

// addExamples gives each command below root its examples.
func addExamples(cmd *cobra.Command, path string) {
	for _, c := range cmd.Commands() {
		name := strings.TrimSpace(path + " " + c.Name())
		if text := helpExamples[name]; text != "" && c.Example == "" {
			c.Example = "  " + strings.ReplaceAll(text, "\n", "\n  ")
		}
		addExamples(c, name)
	}
}
