package compact

// A Usage is what a provider billed for one request.
type Usage struct {
	PromptTokens int
}

// observation ties a result to what the provider will say of it.
type observation struct{}
