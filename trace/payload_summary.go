package trace

import (
	"encoding/json"
	"fmt"
)

// Summarize is the payload of compact.summarize: the call of the summarizer with all
// its attempts. With an ErrorType it is a failure.
//
// USD is the sum of all answers, by their usage. A refused connection and an error
// status cost nothing.
type Summarize struct {
	SessionID        string  `json:"session_id"`
	Model            string  `json:"model,omitempty"` // the summarizer's; empty if no model was called
	Backend          string  `json:"backend"`         // "openai", "agent", "extractive"
	Strategy         string  `json:"strategy"`
	Attempts         int     `json:"attempts"`
	Pieces           int     `json:"pieces"`     // number of pieces of the input, which was cut to fit the summarizer's window
	MaxTokens        int     `json:"max_tokens"` // limit of the summary
	InputMessages    int     `json:"input_messages"`
	InputTokens      int     `json:"input_tokens"`
	SummaryTokens    int     `json:"summary_tokens"`                  // of the whole summary: the user's words come on top of max_tokens
	PromptTokens     int     `json:"prompt_tokens,omitempty"`         // billed
	CompletionTokens int     `json:"completion_tokens,omitempty"`     // billed
	CachedTokens     int     `json:"cached_tokens,omitempty"`         // of prompt_tokens: read from the provider's cache
	WrittenTokens    int     `json:"written_tokens,omitempty"`        // likewise: written into it
	Unused           bool    `json:"unused,omitempty"`                // a summary that was begun in advance, and that no call used
	USD              float64 `json:"summary_usd,omitempty"`           // cost in US dollars
	EstimatedUSD     float64 `json:"summary_estimated_usd,omitempty"` // of summary_usd: answers without a usage, and requests that were cut off and may have been billed
	Prices           string  `json:"prices,omitempty"`                // the price card; it says so if the price of the model is not known
	Relative         bool    `json:"prices_relative,omitempty"`       // summary_usd is in units of the input price of the agent's model
	Temperature      float64 `json:"temperature"`

	// Metadata of the model server's last answer.
	Seed          *int     `json:"seed,omitempty"`
	ResponseModel string   `json:"response_model,omitempty"`
	ResponseID    string   `json:"response_id,omitempty"`
	Finish        []string `json:"finish_reasons,omitempty"`
	Server        string   `json:"server_address,omitempty"`
	Port          int      `json:"server_port,omitempty"`

	ErrorType string `json:"error_type,omitempty"`
	Cause     string `json:"cause,omitempty"` // kind of the failure: "timeout", "overloaded"

	OutputText string `json:"output_text"` // the answer, or the error; a line is written when empty
}

func (p Summarize) spec() spec { return spec{NameSummarize, KindLLM, statusOf(p.ErrorType), ""} }

func (p Summarize) complete() any {
	p.Temperature, p.USD, p.EstimatedUSD = finite(p.Temperature), finite(p.USD), finite(p.EstimatedUSD)
	p.OutputText = or(p.OutputText, p.line)
	return p
}

func (p Summarize) line() string {
	if p.ErrorType != "" {
		return fmt.Sprintf("%s failed after %s: %s", p.Strategy, count(p.Attempts, "attempt"), p.ErrorType)
	}
	return fmt.Sprintf("%s: %s, %d -> %d tokens", p.Strategy, count(p.InputMessages, "message"), p.InputTokens, p.SummaryTokens)
}

// SummaryCreated is the payload of compact.summary_created: an accepted summary
// that replaces messages.
type SummaryCreated struct {
	SessionID        string        `json:"session_id"`
	Step             int           `json:"step"`
	SummaryVersion   int           `json:"summary_version"` // the N of <COMPACT-SUMMARY vN>
	InputMessages    int           `json:"input_messages"`
	InputTokens      int           `json:"input_tokens"`
	SummaryTokens    int           `json:"summary_tokens"`
	CompressionRatio float64       `json:"compression_ratio"` // computed: SummaryTokens / InputTokens
	EntityRetention  float64       `json:"entity_retention"`  // share of the most salient identifiers that the summary names
	InventedRemoved  int           `json:"invented_removed"`  // identifiers that the source doesn't have: cut
	Calls            int           `json:"calls"`             // number of drafts: of pieces and of merges
	Attempts         int           `json:"attempts"`          // calls of the summarizer, those that failed included; not those of its fallback
	Verification     *Verification `json:"verification,omitempty"`
	Strategy         string        `json:"strategy"`
	Backend          string        `json:"backend"`
	Model            string        `json:"model,omitempty"`
	Policy           PolicyInfo    `json:"policy"`
	FilePath         string        `json:"file_path,omitempty"`
	S3Key            string        `json:"s3_key,omitempty"`

	// Payload is the summary as a JSON object. If it is missing or not valid
	// JSON, Encode sets it to {"text": OutputText}.
	Payload json.RawMessage `json:"payload"`

	OutputText string `json:"output_text"` // the summary's text
}

// Verification is the result of checking a summary against its source.
type Verification struct {
	Identifiers     int `json:"identifiers"`      // that the summary names
	InventedRemoved int `json:"invented_removed"` // that the source doesn't have: cut
	ReferencesAdded int `json:"references_added"` // that the summary had left out
}

func (p SummaryCreated) spec() spec { return spec{NameSummaryCreated, KindSummary, StatusOK, ""} }

func (p SummaryCreated) complete() any {
	p.Policy, p.EntityRetention = p.Policy.finite(), finite(p.EntityRetention)
	p.CompressionRatio = ratio(p.SummaryTokens, p.InputTokens)
	if len(p.Payload) == 0 || !json.Valid(p.Payload) {
		p.Payload = marshal(map[string]string{"text": p.OutputText})
	}
	return p
}
