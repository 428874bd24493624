package transport

// isCut reports whether the reason why an answer ended is a limit, so that its last call can
// be incomplete.
func isCut(reason string) bool {
	switch reason {
	case "max_tokens", "model_context_window_exceeded", "length", "MAX_TOKENS":
		return true
	}
	return false
}
