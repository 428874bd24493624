package compact

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy"
)

// Limits of a caller's additions to the prompt.
const (
	promptBytes       = 32 << 10 // of summarizer.prompt_file
	instructionsRunes = 8000     // of summarizer.instructions
)

// checkPrompt returns an error for additions that are too long or can't be read.
func (s SummarizerConfig) checkPrompt() error {
	if n := utf8.RuneCountInString(s.Instructions); n > instructionsRunes {
		return &ConfigError{Path: "summarizer.instructions", Reason: fmt.Sprintf(
			"must have at most %d characters (it has %d); put a longer text into summarizer.prompt_file", instructionsRunes, n)}
	}
	if i, err := strategy.CheckSections(s.Sections); err != nil {
		return &ConfigError{Path: fmt.Sprintf("summarizer.sections[%d]", i), Value: s.Sections[i], Reason: err.Error(), Err: err}
	}
	if _, err := s.prompt(); err != nil {
		return &ConfigError{Path: "summarizer.prompt_file", Value: s.PromptFile, Reason: err.Error(), Err: err}
	}
	return nil
}

// prompt reads the prompt file; "" if none is configured.
func (s SummarizerConfig) prompt() (string, error) {
	if s.PromptFile == "" {
		return "", nil
	}
	f, err := os.Open(s.PromptFile)
	if err != nil {
		return "", fmt.Errorf("can't be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, promptBytes+1))
	switch text := strings.TrimSpace(string(data)); {
	case err != nil:
		return "", fmt.Errorf("can't be read: %w", err)
	case len(data) > promptBytes:
		return "", fmt.Errorf("has more than %d KiB", promptBytes>>10)
	case !utf8.Valid(data):
		return "", errors.New("is not text in UTF-8")
	case text == "":
		return "", errors.New("is empty")
	default:
		return text, nil
	}
}

// readPrompts reads the prompt files of a configuration and its overrides. They
// are read once, so later changes have no effect on a running manager.
func readPrompts(c Config) (map[string]string, error) {
	all := map[string]string{}
	paths := []string{c.Summarizer.PromptFile}
	for _, o := range c.Overrides {
		if path, ok := o.Set["summarizer.prompt_file"].(string); ok {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		text, err := SummarizerConfig{PromptFile: path}.prompt()
		if err != nil {
			return nil, &ConfigError{Path: "summarizer.prompt_file", Value: path, Reason: err.Error(), Err: err}
		}
		all[path] = text
	}
	return all, nil
}
