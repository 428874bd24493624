package compact

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// Config configures a [CompactManager]. A zero field has the value of the
// preset; to set a field to zero, start from [Preset]. [New] copies its lists and
// maps, so that one Config can be changed and used again. The tags are the names
// of settings in files, which package configs loads.
type Config struct {
	// Preset names the preset that supplies the values of zero fields; default
	// "graduated". See [Presets].
	Preset string `mapstructure:"preset"`

	// Model selects tokenizer and window; [WithModel] names another model for
	// one call. "": tokens are counted in o200k_base, as an approximation.
	Model string `mapstructure:"model"`
	// MaxContextTokens is the window, input and output together; 0: looked up
	// by the model's name, 128,000 for an unknown model.
	MaxContextTokens int `mapstructure:"max_context_tokens" validate:"gte=0"`
	// MaxOutputTokens is reserved for the answer; default 0.
	MaxOutputTokens int `mapstructure:"max_output_tokens" validate:"gte=0"`
	// MaxRequestBytes is the maximum size of a request body. If pictures and files
	// exceed it, the oldest are masked until the body has three fifths of it; this
	// needs Mask.Media. 0, the default: the limit that the provider of the wire
	// publishes (Anthropic 32 MB, OpenAI 50 MB, Gemini 100 MB), and no limit for calls
	// without [WithRequest]; -1: no limit.
	MaxRequestBytes int `mapstructure:"max_request_bytes" validate:"gte=-1"`
	// Counting is the unit of all numbers of tokens: "model", the model's
	// tokens; "bytes4", bytes / 4; "utf16", UTF-16 units. Default "model".
	Counting string `mapstructure:"counting" validate:"oneof=model bytes4 utf16"`

	// Observe changes nothing: every call returns the unchanged history, and separate
	// events report the compactions and savings that would have been made. No archive is
	// opened, no conversation is written, and no model is asked for a summary. Default
	// false. See [WithObserve].
	Observe bool `mapstructure:"observe"`

	Policy     policy.Config         `mapstructure:"policy"`     // when a conversation is compacted, to which size, and which messages are kept
	Tidy       policy.TidyConfig     `mapstructure:"tidy"`       // how tool results are reduced on arrival
	Truncate   policy.TruncateConfig `mapstructure:"truncate"`   // how a too large tool result is cut
	Mask       policy.MaskConfig     `mapstructure:"mask"`       // which tool results become placeholders
	Summarizer SummarizerConfig      `mapstructure:"summarizer"` // backend that writes summaries
	Redaction  RedactionConfig       `mapstructure:"redaction"`  // which secrets are removed from everything that leaves memory
	Storage    StorageConfig         `mapstructure:"storage"`    // where removed text is archived
	Trace      TraceConfig           `mapstructure:"trace"`      // where events go besides the audit log
	Sessions   SessionsConfig        `mapstructure:"sessions"`   // memory for idle sessions
	Prices     PricesConfig          `mapstructure:"prices"`     // prices of calls, for the bill of each
	Cache      CacheConfig           `mapstructure:"cache"`      // marks for the provider's prompt cache

	// Overrides change settings for the calls of some models, agents or both.
	// They take precedence over the fields above, and later overrides over
	// earlier ones; [Config.For] returns the configuration of a call.
	Overrides []Override `mapstructure:"-" validate:"-"`

	// Stages are stages of the caller. Policy.Stages names their place; a stage
	// that it does not name runs before all others except tidy. policy/policytest
	// tests a stage against its contract.
	Stages []OwnStage `mapstructure:"-" validate:"-"`

	// Strategy is a strategy of the caller for the content of summaries; nil: the
	// one that Policy.Strategy names. [strategy.New] states its requirements, and
	// strategy/strategytest tests a strategy against its contract. An override
	// that names a strategy takes precedence.
	Strategy *strategy.Strategy `mapstructure:"-" validate:"-"`

	// Archive stores removed text; nil: the archive that Storage configures.
	// The manager does not close it.
	Archive storage.Archive `mapstructure:"-" validate:"-"`
	// ArchiveKey seals fingerprints and references before they leave memory: 64 hex
	// digits, or 32 bytes in base64; several keys are separated by commas, the newest
	// first. "": COMPACT_ARCHIVE_KEY, else a key in the user's configuration folder,
	// created at first use. A person with the key can test guesses of redacted text, so do
	// not store it beside the archive.
	ArchiveKey Secret `mapstructure:"-" validate:"-"`
	// HeadsKey is the Ed25519 key that signs the heads of sessions, 32 random
	// bytes in base64; empty: heads are not signed. configs.Load reads it from
	// the environment variable COMPACT_HEADS_KEY.
	HeadsKey Secret `mapstructure:"-" validate:"-"`
	// OpenArchive opens the archive of an adapter that this package does not
	// link, such as s3; configs.Load sets it. The manager closes that archive.
	OpenArchive func(ctx context.Context, c StorageConfig) (storage.Archive, error) `mapstructure:"-" validate:"-"`
	// Summarize writes summaries; nil: the extractive backend, which needs no
	// model. configs.Load sets it for the backend openai.
	Summarize strategy.Summarizer `mapstructure:"-" validate:"-"`
	// Redactor removes secrets; nil: the redactor that Redaction configures.
	Redactor *redact.Redactor `mapstructure:"-" validate:"-"`
	// Exporters receive every event, in addition to the exporters that Trace
	// configures. Close shuts them down.
	Exporters []trace.Exporter `mapstructure:"-" validate:"-"`
	// OnTraceError receives the failures of exporters as [*trace.ExportError]: the
	// first one at once, later ones at most every 10 s per exporter, the rest at
	// Close. Calls for one exporter do not overlap. It must not call the manager.
	// nil: failures are warnings in Logger, unless the exporter has logged them
	// itself.
	OnTraceError func(error) `mapstructure:"-" validate:"-"`
	// Counter counts the tokens of texts if Counting is "model"; nil: the
	// tokenizer of Model.
	Counter token.Counter `mapstructure:"-" validate:"-"`
	// Logger receives the stack of a call that panicked, and the failures of
	// exporters; nil: [slog.Default].
	Logger *slog.Logger `mapstructure:"-" validate:"-"`
	// Now returns the time for durations. It is called concurrently; nil:
	// [time.Now].
	Now func() time.Time `mapstructure:"-" validate:"-"`

	complete bool // made by Preset: zeros mean zero
}

// SummarizerConfig configures the backend that writes summaries.
type SummarizerConfig struct {
	// Backend is "extractive" (no model, no network), "openai" (any server that
	// speaks its chat completions) or "agent" (the agent's own model, with an
	// instruction appended to its last request, which the provider then reads from
	// its cache); default "extractive". "agent" needs hook/transport or compactctl
	// serve; other calls, calls with a cold cache, and failures fall back to
	// "extractive", regardless of Fallback. The agent's model is asked once, with the
	// whole Timeout.
	Backend string `mapstructure:"backend" validate:"oneof=extractive openai agent"`
	// Model is the summarizing model. The backend openai requires it; with
	// another backend it is an error.
	Model string `mapstructure:"model"`
	// BaseURL is the URL of its server, for example
	// "http://localhost:11434/v1"; "": OpenAI.
	BaseURL string `mapstructure:"base_url" validate:"omitempty,http_url"`
	// MaxTokens is the maximum size of a summary, in tokens; 0, the default: a
	// twentieth of the target, at least 1500 and at most 8000. The preset summarize
	// uses 1500, history-reducer 1400 characters.
	MaxTokens int `mapstructure:"max_tokens" validate:"omitempty,gte=64"`
	// UserTokens is the maximum size of the user's words in a summary, in tokens, in
	// addition to MaxTokens; default 2000. Two more limits apply: a quarter of the target,
	// and a tenth of the target or of half of the trigger, whichever is larger. If the
	// words together exceed the limit, the longest messages are cut, except the last ten.
	UserTokens int `mapstructure:"user_tokens" validate:"gte=1"`
	// Instructions are added to the prompt of a summarizing model, at most 8,000
	// characters; default none. Instructions, Sections and PromptFile are errors with the
	// backend extractive.
	Instructions string `mapstructure:"instructions"`
	// Sections are headings that replace the headings of the strategy: at most 12, each on
	// one line of at most 60 characters. Without them the headings of the strategy apply.
	// The user's words, "What happened", "Where things stand" and "What is next" are in
	// every summary.
	Sections []string `mapstructure:"sections"`
	// PromptFile is a file whose text replaces the strategy's instructions and
	// examples; the rules for every summary stay. [New] reads it, at most 32 KiB,
	// relative to the working directory.
	PromptFile string `mapstructure:"prompt_file"`
	// Window is the summarizing model's own window, in tokens; 0: looked up.
	Window int `mapstructure:"window_tokens" validate:"gte=0"`
	// Timeout bounds a summary with all its attempts, each of which has Timeout
	// / MaxAttempts; default 1m.
	Timeout time.Duration `mapstructure:"timeout" validate:"gte=0"`
	// MaxAttempts is the maximum number of attempts for one call of the model;
	// default 3.
	MaxAttempts int `mapstructure:"max_attempts" validate:"gte=1"`
	// Parallel is the number of pieces of one summary that are written
	// concurrently; default 4.
	Parallel int `mapstructure:"parallel" validate:"gte=1,lte=64"`
	// Seed is sent with each call; default 42.
	Seed int `mapstructure:"seed"`
	// Fallback replaces a summary that the model failed to write: by a notice
	// ("pruning-only", the default), or by a summary of the extractive backend
	// ("extractive", recommended).
	Fallback string `mapstructure:"fallback" validate:"oneof=pruning-only extractive"`
}

// RedactionConfig configures the redaction of everything that leaves memory.
type RedactionConfig struct {
	// Enabled is true by default. If false, everything is stored and exported
	// unredacted, and every call emits an event of high severity that says so.
	Enabled bool `mapstructure:"enabled"`
	// Strict also redacts values that merely look like api_key=… or password: …;
	// default false.
	Strict bool `mapstructure:"strict"`
	// PII also redacts e-mail addresses, telephone numbers, cards and IBANs;
	// default false.
	PII bool `mapstructure:"pii"`
	// Patterns are additional regular expressions (RE2); the first group, or else
	// the whole match, is the secret. An invalid pattern is an error of [New].
	Patterns []string `mapstructure:"patterns"`
	// Rules and Detectors find additional secrets, besides the built-in rules; see
	// [redact.Rule] and [redact.Detector]. Default none.
	Rules     []redact.Rule     `mapstructure:"-" validate:"-"`
	Detectors []redact.Detector `mapstructure:"-" validate:"-"`
	// Pseudonyms gives each secret its own placeholder, such as
	// <REDACTED:aws_key:7f3a>, which depends on the secret and PseudonymKey;
	// default false.
	Pseudonyms bool `mapstructure:"pseudonyms"`
	// Summarizer also redacts the text that is sent to a summarizing model;
	// default true.
	Summarizer bool `mapstructure:"summarizer"`

	// PseudonymKey is the key of pseudonyms, 16 bytes or more. A person with the key can
	// test guesses of a secret, so do not store it beside the archive. configs.Load reads
	// it from the environment variable COMPACT_PSEUDONYM_KEY.
	PseudonymKey Secret `mapstructure:"-" validate:"-"`
}

// A Secret is a value that always prints as "[redacted]".
type Secret []byte

// Format writes "[redacted]", or nothing for an empty secret.
func (s Secret) Format(f fmt.State, _ rune) {
	if len(s) > 0 {
		_, _ = f.Write([]byte("[redacted]"))
	}
}

// MarshalText returns what Format writes.
func (s Secret) MarshalText() ([]byte, error) { return fmt.Append(nil, s), nil }

// StorageConfig configures the archive.
type StorageConfig struct {
	// Adapter is "fs" (a folder), "memory" (lost when the process exits;
	// placeholders name neither calls nor references), "s3" (which needs
	// Config.OpenArchive), or a registered adapter with Settings; default "fs".
	Adapter string `mapstructure:"adapter" validate:"oneof=fs memory s3"`
	// Settings are the settings of an adapter that another package registered
	// (configs.Register), in that package's type. configs.Load sets them for
	// Config.OpenArchive; nil: none.
	Settings any `mapstructure:"-" validate:"-"`
	// Path is the folder of fs, created if missing; default ".compact/archive",
	// relative to the working directory. It may also be a file URL with an absolute
	// path.
	Path string `mapstructure:"path" validate:"required_if=Adapter fs"`
	// OnError is the reaction to an archive that fails. "fail", the default, leaves
	// the history unchanged and returns [ErrArchiveFailed]. "continue" compacts
	// without the archive, with a warning; an archive that cannot be opened or read
	// is tried again after pauses that grow from a second to a minute.
	OnError string `mapstructure:"on_error" validate:"oneof=fail continue"`
	// Erased is the treatment of an erased or pruned session whose agent continues,
	// or whose id is used again. "new", the default, begins a new session in another
	// folder, "ID.after-…". "refuse" never stores anything of the session again, so
	// a call that would remove text returns the unchanged history with
	// [ErrArchiveFailed]. In both cases erased data does not come back.
	Erased string `mapstructure:"erased" validate:"oneof=refuse new"`
	// AccessLog records who reads the archive: each recall and search of an agent,
	// and each show and export of compactctl. A read that cannot be recorded fails;
	// default false.
	AccessLog bool `mapstructure:"access_log"`
	// Transcripts is "compactions" (the history before each compaction) or "all"
	// (each message once, also of sessions that never compact); default
	// "compactions".
	Transcripts string `mapstructure:"transcripts" validate:"oneof=compactions all"`

	// Repeat is how a transcript stores messages that an earlier one holds:
	// "reference" refers to them, so that each message is stored once; "full"
	// writes them again, so that every file is complete. Default "reference".
	Repeat string `mapstructure:"repeat" validate:"oneof=reference full"`

	// Bucket and the fields up to Timeout configure s3. Credentials come only
	// from the default chain of the SDK (environment, profile, web identity,
	// container, instance).
	Bucket string `mapstructure:"bucket" validate:"required_if=Adapter s3"`
	// Prefix is the folder in the bucket; default none.
	Prefix string `mapstructure:"prefix"`
	// Region is the AWS region; "": AWS_REGION, or the region of the profile.
	Region string `mapstructure:"region"`
	// Endpoint is the URL of the server; "": AWS.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket into the path of the URL instead of the host;
	// default false.
	PathStyle bool `mapstructure:"path_style"`
	// KMSKeyID is the id, ARN or alias of the key that encrypts every object;
	// "": the default of the bucket.
	KMSKeyID string `mapstructure:"kms_key_id"`
	// ObjectLock is the retention of every object; default: the retention of
	// the bucket.
	ObjectLock ObjectLockConfig `mapstructure:"object_lock"`
	// Encrypt names the recipients of an encrypted archive; default none: no
	// encryption.
	Encrypt EncryptConfig `mapstructure:"encrypt"`
	// Timeout bounds one operation with its retries; default 1m. Large files get
	// more.
	Timeout time.Duration `mapstructure:"timeout" validate:"gt=0"`

	// Spool is a local folder that is written first and sent to S3 in the
	// background; "": writes go to S3 directly.
	Spool string `mapstructure:"spool"`
	// SpoolKeep is how long a session stays in the spool after it was sent;
	// default 24h.
	SpoolKeep time.Duration `mapstructure:"spool_keep" validate:"gt=0"`
}

// EncryptConfig names the recipients for whom the archive is encrypted with age, on
// disk, in the spool and in the bucket. It needs Config.OpenArchive. Readers need an
// identity, in COMPACT_ARCHIVE_IDENTITY or in the file that
// COMPACT_ARCHIVE_IDENTITY_FILE names. A process without an identity can only write,
// and knows a session only until it exits.
type EncryptConfig struct {
	// Recipients are public keys of age, "age1…", at most seven; default none:
	// nothing is encrypted.
	Recipients []string `mapstructure:"recipients"`
	// RecipientsFile is a file with more recipients, one per line; "": none.
	RecipientsFile string `mapstructure:"recipients_file"`
}

// On reports whether there are recipients.
func (e EncryptConfig) On() bool { return len(e.Recipients) > 0 || e.RecipientsFile != "" }

// ObjectLockConfig is the S3 Object Lock retention of every object.
type ObjectLockConfig struct {
	// Mode is "governance" or "compliance"; "": the default of the bucket.
	Mode string `mapstructure:"mode" validate:"omitempty,oneof=governance compliance"`
	// Days is the retention of an object, in days from its creation; 0, the default: the
	// retention of the bucket.
	Days int `mapstructure:"days" validate:"gte=0,lte=36500"`
}

// TraceConfig configures the destinations of events besides the audit log.
type TraceConfig struct {
	// AriadneURL is the URL of an Ariadne API, for example "http://127.0.0.1:5175"; "": no
	// events are sent to Ariadne.
	AriadneURL string `mapstructure:"ariadne_url" validate:"omitempty,http_url"`
	// Console writes one line per event to standard error; default false.
	Console bool `mapstructure:"console"`
	// PerSession creates one trace per session instead of one per model call;
	// default false.
	PerSession bool `mapstructure:"per_session"`

	// OTLPEndpoint is the URL of a collector that takes OTLP over HTTP; "": none.
	// This package does not link OpenTelemetry: configs.Load adds the exporter to
	// Exporters, as any program can.
	OTLPEndpoint string `mapstructure:"otlp_endpoint" validate:"omitempty,http_url"`
	// OTLPService is the service.name; "": OTEL_SERVICE_NAME, or "compact".
	OTLPService string `mapstructure:"otlp_service"`
	// OTLPTimeout bounds one request to the collector; default 5s.
	OTLPTimeout time.Duration `mapstructure:"otlp_timeout" validate:"gte=0"`
	// OTLPMetricsEndpoint is the URL of a collector that takes metrics in OTLP over
	// HTTP; "": none. As with OTLPEndpoint, configs.Load adds the exporter.
	OTLPMetricsEndpoint string `mapstructure:"otlp_metrics_endpoint" validate:"omitempty,http_url"`
	// OTLPMetricsInterval is the interval between two exports of metrics;
	// default 1m.
	OTLPMetricsInterval time.Duration `mapstructure:"otlp_metrics_interval" validate:"gte=0"`
	// Content also sends texts of the conversation (summaries and search patterns)
	// to the collector; default false. The audit log and Ariadne always receive
	// them, redacted.
	Content bool `mapstructure:"content"`

	// CloseTimeout is how long Close waits for the exporters, even if its context
	// allows more; 0: 5s.
	CloseTimeout time.Duration `mapstructure:"-" validate:"gte=0"`
}

// CacheConfig configures the marks for the provider's prompt cache.
type CacheConfig struct {
	// Marks is "keep" or "auto"; default "keep". With "keep" a request has only the
	// caller's marks; the mark of a removed message moves to the last message before it
	// that stays. With "auto" more marks are set, up to the provider's limit: at the last
	// message, at the end of the previous request if many blocks follow it, after the
	// system prompt or the tools, at the last masked message, and after the summary. It
	// applies to requests through hook/transport to a provider whose cache needs marks,
	// which is Anthropic.
	Marks string `mapstructure:"marks" validate:"oneof=keep auto"`
}

const marksAuto = "auto"

// SessionsConfig bounds the memory that a manager uses for sessions.
type SessionsConfig struct {
	// MaxBytes bounds the memory of idle sessions; default 256 MiB. The sessions that were
	// idle for longest are dropped from memory, and read from the archive when they are
	// used again. The most recently used session stays, with any size.
	MaxBytes int `mapstructure:"max_bytes" validate:"gt=0"`
}

// An Override changes settings for the calls of some models, agents or both.
type Override struct {
	// Model and Agent select the calls that name them ([WithModel],
	// [WithAgent], the request's model). * matches any text, ? one character;
	// the case of a model name is ignored. The whole name is compared, with the
	// prefix of a provider if it has one: claude-* does not match
	// anthropic/claude-opus-4, and *claude-* does. "" matches every call. A non-empty
	// Agent never matches a call without an agent.
	Model, Agent string
	// Set maps the paths of settings, such as "policy.trigger_pct", to their values: settings of
	// policy, tidy, truncate, mask, summarizer and prices, and max_context_tokens,
	// max_output_tokens and max_request_bytes. A value has the type of its field. A plain string
	// is allowed for a named string type, and an integer for a float.
	Set map[string]any
	// Summarize replaces [Config.Summarize]. If it is nil, Config.Summarize is used.
	Summarize strategy.Summarizer
}

// OwnStage is a stage of the caller, see [Config.Stages]. Its proposals are checked
// like the proposals of built-in stages: pinned messages, the last user message and the
// open round stay, calls and results stay together, nothing gets larger, and the
// provider's rules are kept. A proposal that breaks a rule, fails, panics or comes too
// late is dropped; the other stages continue, and [Result.Warnings] reports it.
type OwnStage struct {
	// Stage proposes the edits. It gets a copy of the view, so it can't modify the
	// history. Its name is one unique word (a-z, 0-9, _ and -, a letter first). If it implements
	// [policy.Estimator] or [policy.Taker], they are used.
	//
	// An edit of a text consists of ranges of the old text, marks ([policy.Mask.Edit] returns
	// one), and literals of at most 200 bytes. Literals above 16 bytes must occur in no text
	// of the history, and there are at most 50 different ones. A literal must hold no
	// secret. A cut removes whole rounds and replaces them by nothing
	// or by a notice ([policy.NewNotice]). One proposal has either edits of texts, all with
	// one decision, or cuts.
	Stage policy.Stage
	// When is "trigger" (at a compaction) or "always" (at every call); default
	// "trigger".
	When policy.When
	// Goal is how far the stage goes: to the target, to the budget if the view is
	// above it, or to the end of its proposals. Default: to the target.
	Goal policy.Goal
	// Timeout limits one call of the stage; default 10s. A stage that did not
	// return in time is skipped until it has returned.
	Timeout time.Duration
}

// backendAgent is the summary backend that appends an instruction to the
// agent's last request and sends it to the agent's own model.
const backendAgent = summarize.BackendAgent

// backendOpenAI is the summary backend that calls a server.
const backendOpenAI = "openai"
