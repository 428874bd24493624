package trace

import (
	"encoding/json"
	"fmt"
)

// Summarize is the payload of compact.summarize: the call of the summarizer with all
// its attempts. With an ErrorType it is a failure.
//
// USD is the sum over all answers, by their usage. A refused connection and an
// error status cost nothing.
type Summarize struct {
	SessionID     string `json:"session_id"`
	Model         string `json:"model,omitempty"` // model of the summarizer; empty if no model was called
	Backend       string `json:"backend"`         // "openai", "agent", "extractive"
	Strategy      string `json:"strategy"`
	Attempts      int    `json:"attempts"`
	Pieces        int    `json:"pieces"`     // number of pieces of the input, if it was cut to fit the summarizer's window
	MaxTokens     int    `json:"max_tokens"` // limit of the summary
	InputMessages int    `json:"input_messages"`
	InputTokens   int    `json:"input_tokens"`
	// tokens of the whole summary, including the user's words, which do not count toward
	// max_tokens
	SummaryTokens    int     `json:"summary_tokens"`
	PromptTokens     int     `json:"prompt_tokens,omitempty"`     // billed tokens
	CompletionTokens int     `json:"completion_tokens,omitempty"` // billed tokens
	CachedTokens     int     `json:"cached_tokens,omitempty"`     // part of prompt_tokens that was read from the provider's cache
	WrittenTokens    int     `json:"written_tokens,omitempty"`    // part of prompt_tokens that was written into the cache
	Unused           bool    `json:"unused,omitempty"`            // the summary was begun in advance, and no call used it
	USD              float64 `json:"summary_usd,omitempty"`       // cost in US dollars
	// part of summary_usd: answers without a usage, and requests that were cut off and may have been
	// billed
	EstimatedUSD float64 `json:"summary_estimated_usd,omitempty"`
	// the price card, with a remark if the price of the model is not known
	Prices      string  `json:"prices,omitempty"`
	Relative    bool    `json:"prices_relative,omitempty"` // summary_usd is in units of the input price of the agent's model
	Temperature float64 `json:"temperature"`

	// Metadata of the model server's last answer.
	Seed          *int     `json:"seed,omitempty"`
	ResponseModel string   `json:"response_model,omitempty"`
	ResponseID    string   `json:"response_id,omitempty"`
	Finish        []string `json:"finish_reasons,omitempty"`
	Server        string   `json:"server_address,omitempty"`
	Port          int      `json:"server_port,omitempty"`

	ErrorType string `json:"error_type,omitempty"`
	Cause     string `json:"cause,omitempty"` // kind of the failure: "timeout", "overloaded"

	OutputText string `json:"output_text"` // the answer, or the error; "" = Encode writes a line that describes the call
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
	paid := ""
	if p.USD > 0 {
		paid = "; " + money(p.USD, p.Relative)
	}
	if p.Unused {
		return "nothing used it: the conversation changed or ended" + paid
	}
	return fmt.Sprintf("%s: %s, %d -> %d tokens%s", p.Strategy, count(p.InputMessages, "message"), p.InputTokens, p.SummaryTokens, paid)
}

// SummaryCreated is the payload of compact.summary_created: an accepted summary
// that replaces messages.
type SummaryCreated struct {
	SessionID        string  `json:"session_id"`
	Step             int     `json:"step"`
	SummaryVersion   int     `json:"summary_version"` // the number in <COMPACT-SUMMARY vN>
	InputMessages    int     `json:"input_messages"`
	InputTokens      int     `json:"input_tokens"`
	SummaryTokens    int     `json:"summary_tokens"`
	CompressionRatio float64 `json:"compression_ratio"` // computed: SummaryTokens / InputTokens
	EntityRetention  float64 `json:"entity_retention"`  // share of the most salient identifiers that the summary names
	InventedRemoved  int     `json:"invented_removed"`  // number of identifiers that were cut because the source doesn't contain them
	Calls            int     `json:"calls"`             // number of drafts: of pieces and of merges
	// calls of the summarizer, including failed ones, but without the calls of its
	// fallback
	Attempts     int           `json:"attempts"`
	Verification *Verification `json:"verification,omitempty"`
	Strategy     string        `json:"strategy"`
	Backend      string        `json:"backend"`
	Model        string        `json:"model,omitempty"`
	Policy       PolicyInfo    `json:"policy"`
	FilePath     string        `json:"file_path,omitempty"`
	S3Key        string        `json:"s3_key,omitempty"`

	// Payload is the summary as a JSON object. If it is missing or not valid
	// JSON, Encode sets it to {"text": OutputText}.
	Payload json.RawMessage `json:"payload"`

	OutputText string `json:"output_text"` // text of the summary
}

// Verification is the result of checking a summary against its source.
type Verification struct {
	Identifiers     int `json:"identifiers"`      // identifiers in the summary
	InventedRemoved int `json:"invented_removed"` // identifiers that were cut because the source doesn't contain them
	ReferencesAdded int `json:"references_added"` // references that the summary had left out
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
