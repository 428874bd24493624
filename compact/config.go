package compact

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"time"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// Config says how a [CompactManager] works. A field that is zero has the value
// of the preset; to set one to zero, start from [Preset]. The tags are the
// names in files, which package configs loads.
type Config struct {
	// Preset is what fields that are zero come from; default "graduated". See
	// [Presets].
	Preset string `mapstructure:"preset"`

	// Model decides tokenizer and window; [WithModel] names another for one
	// call. "": counted in o200k_base, as an approximation.
	Model string `mapstructure:"model"`
	// MaxContextTokens is the window, input and output together; 0: looked up
	// by the model's name, 128,000 where that is not known.
	MaxContextTokens int `mapstructure:"max_context_tokens" validate:"gte=0"`
	// MaxOutputTokens is reserved for the answer; default 0.
	MaxOutputTokens int `mapstructure:"max_output_tokens" validate:"gte=0"`
	// MaxRequestBytes is how large the body of a request may be. Where pictures and
	// files make it larger the oldest are masked until it is three fifths of that; not
	// without Mask.Media. 0: what the provider of the wire publishes (Anthropic 32 MB,
	// OpenAI 50 MB, Gemini 100 MB), no bound for calls without [WithRequest]; -1: no
	// bound. Default 0.
	MaxRequestBytes int `mapstructure:"max_request_bytes" validate:"gte=-1"`
	// Counting is the unit of everything that is called tokens here: "model",
	// the model's own; "bytes4", bytes / 4; "utf16", UTF-16 units. Default
	// "model".
	Counting string `mapstructure:"counting" validate:"oneof=model bytes4 utf16"`

	// Observe looks and changes nothing: what every call returns is the history as
	// it came in, and events of their own say what would have been done and saved.
	// No archive is opened, so that nothing is written of a conversation, and no
	// model is asked for a summary. Default false. See [WithObserve].
	Observe bool `mapstructure:"observe"`

	Policy     policy.Config         `mapstructure:"policy"`     // when a conversation is compacted, how far, and what is kept
	Tidy       policy.TidyConfig     `mapstructure:"tidy"`       // how tool results are reduced when they come
	Truncate   policy.TruncateConfig `mapstructure:"truncate"`   // how a tool result that is too large is cut
	Mask       policy.MaskConfig     `mapstructure:"mask"`       // which tool results become placeholders
	Summarizer SummarizerConfig      `mapstructure:"summarizer"` // who writes summaries
	Redaction  RedactionConfig       `mapstructure:"redaction"`  // what is taken out of all that leaves memory
	Storage    StorageConfig         `mapstructure:"storage"`    // where what is taken out of a conversation goes first
	Trace      TraceConfig           `mapstructure:"trace"`      // where events go besides the audit log
	Sessions   SessionsConfig        `mapstructure:"sessions"`   // how much is remembered of sessions
	Prices     PricesConfig          `mapstructure:"prices"`     // what calls cost, for the bill of each
	Cache      CacheConfig           `mapstructure:"cache"`      // what is done for the provider's prompt cache

	// Overrides change settings for the calls of some models, agents or both;
	// where several are for a call, the later ones go over the earlier. They go
	// over the fields above: [Config.For] says what holds for a call.
	Overrides []Override `mapstructure:"-" validate:"-"`

	// Stages are stages of the caller's own. Policy.Stages says where each works, by
	// its name; those that it does not name work before all others but tidy.
	// policy/policytest holds a stage against its contract.
	Stages []OwnStage `mapstructure:"-" validate:"-"`

	// Strategy says what a summary holds, in place of the one that Policy.Strategy
	// names; nil: that. [strategy.New] says what it must be, and
	// strategy/strategytest holds one against its contract. An override that names
	// another strategy goes over it.
	Strategy *strategy.Strategy `mapstructure:"-" validate:"-"`

	// Archive stores what is taken out; nil: what Storage says. The manager
	// does not close it.
	Archive storage.Archive `mapstructure:"-" validate:"-"`
	// ArchiveKey is what fingerprints and references are sealed with before they leave
	// memory: 64 hex digits, or base64 of 32 bytes; several with commas in between,
	// the newest first. "": COMPACT_ARCHIVE_KEY, else a key in the user's
	// configuration folder, made at first use. Who has it can test guesses of what was
	// redacted, so it does not belong beside the archive.
	ArchiveKey Secret `mapstructure:"-" validate:"-"`
	// HeadsKey is the Ed25519 key, 32 random bytes in base64, that the heads of
	// sessions are signed with; none: they are not signed. configs.Load takes it
	// from the environment, COMPACT_HEADS_KEY.
	HeadsKey Secret `mapstructure:"-" validate:"-"`
	// OpenArchive opens the archive of an adapter that this package does not
	// link, which is s3; configs.Load sets it. The manager closes what it
	// opened.
	OpenArchive func(ctx context.Context, c StorageConfig) (storage.Archive, error) `mapstructure:"-" validate:"-"`
	// Summarize is asked for summaries; nil: the extractive backend, which
	// needs no model. configs.Load sets it for the backend openai.
	Summarize strategy.Summarizer `mapstructure:"-" validate:"-"`
	// Redactor takes secrets out; nil: made of Redaction.
	Redactor *redact.Redactor `mapstructure:"-" validate:"-"`
	// Exporters get every event, in addition to those that Trace names. The
	// manager shuts them down when it is closed.
	Exporters []trace.Exporter `mapstructure:"-" validate:"-"`
	// OnTraceError is told, as a [*trace.ExportError], what an exporter could not
	// do: of the first failure at once, then at most every 10 s an exporter, and of
	// the rest at Close; never twice at once for one exporter. nil: a warning in
	// Logger, unless the exporter has said it in a log of its own. It must not call
	// the manager.
	OnTraceError func(error) `mapstructure:"-" validate:"-"`
	// Counter counts the tokens of texts, where Counting is "model"; nil: that
	// of Model.
	Counter token.Counter `mapstructure:"-" validate:"-"`
	// Logger gets the stack of a call that panicked, and what exporters could not
	// do; nil: [slog.Default].
	Logger *slog.Logger `mapstructure:"-" validate:"-"`
	// Now measures durations, in several goroutines at once; nil: [time.Now].
	Now func() time.Time `mapstructure:"-" validate:"-"`

	complete bool // made by Preset: zeros mean zero
}

// SummarizerConfig says who writes summaries.
type SummarizerConfig struct {
	// Backend is "extractive" (no model, no network), "openai" (any server that
	// speaks its chat completions) or "agent" (the agent's own model, behind the
	// request that it sent last, so that the provider reads that from its cache);
	// default "extractive". "agent" needs hook/transport or compactctl serve: calls
	// without, calls while the cache is cold, and whatever fails, fall back to
	// "extractive", whatever Fallback says. It is asked once, and has all of Timeout.
	Backend string `mapstructure:"backend" validate:"oneof=extractive openai agent"`
	// Model is asked for summaries; "" with the backend openai is an error, and
	// so is a model with another backend.
	Model string `mapstructure:"model"`
	// BaseURL is its server, "http://localhost:11434/v1" for example; "" is
	// OpenAI's.
	BaseURL string `mapstructure:"base_url" validate:"omitempty,http_url"`
	// MaxTokens is the most that a summary may cost, in tokens; 0, the default: a
	// twentieth of the target, at least 1500 and at most 8000. The preset summarize
	// has 1500, history-reducer 1400 characters.
	MaxTokens int `mapstructure:"max_tokens" validate:"omitempty,gte=64"`
	// UserTokens is the most that what people typed may take of a summary, beside
	// MaxTokens, and never more than a tenth of the target; a target below half of
	// the trigger, as policy.when economic chooses it, counts as that half, and a
	// quarter of it is the most. Over it the longest messages are cut in the
	// middle, the last ten never. Default 2000.
	UserTokens int `mapstructure:"user_tokens" validate:"gte=1"`
	// Instructions are added to ours in what a summarizing model is asked. With
	// the backend extractive they are an error, and so are the next two.
	Instructions string `mapstructure:"instructions"`
	// Sections are headings in place of the strategy's own: what happened, where
	// things stand, what is next and what people typed are in every summary. At
	// most 12, each one line of at most 60 characters; none: the strategy's.
	Sections []string `mapstructure:"sections"`
	// PromptFile is a file whose text stands in place of the strategy's
	// instructions and examples. The rules that hold for every summary stay. It is
	// read by [New], has at most 32 KiB, and is seen from the working directory.
	PromptFile string `mapstructure:"prompt_file"`
	// Window is the summarizing model's own window, in tokens; 0: looked up.
	Window int `mapstructure:"window_tokens" validate:"gte=0"`
	// Timeout bounds a whole summary with all its retries, of which each has its
	// share, Timeout / MaxAttempts; default 1m.
	Timeout time.Duration `mapstructure:"timeout" validate:"gte=0"`
	// MaxAttempts is how often one call is tried; default 3.
	MaxAttempts int `mapstructure:"max_attempts" validate:"gte=1"`
	// Parallel is how many pieces of one summary are written at once; default 4.
	Parallel int `mapstructure:"parallel" validate:"gte=1,lte=64"`
	// Seed is sent with each call; default 42.
	Seed int `mapstructure:"seed"`
	// Fallback is what is done when no summary is to be had: "pruning-only" puts
	// a notice in its place, "extractive", which is recommended where a model
	// writes them, a summary that no model wrote; default "pruning-only".
	Fallback string `mapstructure:"fallback" validate:"oneof=pruning-only extractive"`
}

// RedactionConfig says what leaves memory.
type RedactionConfig struct {
	// Enabled is true by default. Without it everything is stored and exported
	// as it is, and every call has an event of high severity that says so.
	Enabled bool `mapstructure:"enabled"`
	// Strict also takes what merely looks like api_key=… or password: …; default
	// false.
	Strict bool `mapstructure:"strict"`
	// PII also takes e-mail addresses, telephone numbers, cards and IBANs; default
	// false.
	PII bool `mapstructure:"pii"`
	// Patterns are regular expressions (RE2) of your own; the first group, or the
	// whole match, is the secret. One that does not compile is an error of [New].
	Patterns []string `mapstructure:"patterns"`
	// Rules and Detectors find secrets of your own, beside the built-in rules; see
	// [redact.Rule] and [redact.Detector]. Default none.
	Rules     []redact.Rule     `mapstructure:"-" validate:"-"`
	Detectors []redact.Detector `mapstructure:"-" validate:"-"`
	// Pseudonyms makes placeholders tell secrets apart, <REDACTED:aws_key:7f3a>:
	// the same for the same secret and PseudonymKey; default false.
	Pseudonyms bool `mapstructure:"pseudonyms"`
	// Summarizer redacts what goes to a summarizing model, too; default true.
	Summarizer bool `mapstructure:"summarizer"`

	// PseudonymKey is the secret that pseudonyms are made with, 16 bytes or
	// more. Who has it can try out what a pseudonym stands for, so it does not
	// belong beside the archive. configs.Load takes it from the environment,
	// COMPACT_PSEUDONYM_KEY.
	PseudonymKey Secret `mapstructure:"-" validate:"-"`
}

// A Secret is a value that prints as "[redacted]", whatever prints it.
type Secret []byte

// Format writes "[redacted]", or nothing for an empty secret.
func (s Secret) Format(f fmt.State, _ rune) {
	if len(s) > 0 {
		_, _ = f.Write([]byte("[redacted]"))
	}
}

// MarshalText returns what Format writes.
func (s Secret) MarshalText() ([]byte, error) { return fmt.Append(nil, s), nil }

// StorageConfig says where the archive is.
type StorageConfig struct {
	// Adapter is "fs" (a folder), "memory" (nothing outlives the process, and
	// placeholders name neither calls nor references), "s3" (which needs
	// Config.OpenArchive), or one that has Settings; default "fs".
	Adapter string `mapstructure:"adapter" validate:"oneof=fs memory s3"`
	// Settings are those of an adapter that another package has registered
	// (configs.Register), in that package's own type. configs.Load sets them, and
	// Config.OpenArchive takes them; nil: none.
	Settings any `mapstructure:"-" validate:"-"`
	// Path is the folder of fs, made where it is missing; default
	// ".compact/archive", seen from the working directory.
	Path string `mapstructure:"path" validate:"required_if=Adapter fs"`
	// OnError says what happens when nothing can be stored: "fail" leaves the
	// history as it is and returns [ErrArchiveFailed], "continue" takes out what
	// is due all the same, with a warning, and goes on without an archive that
	// can't be opened or read, which is tried again at most once a minute; default
	// "fail".
	OnError string `mapstructure:"on_error" validate:"oneof=fail continue"`
	// Erased says what becomes of a session that was erased, or pruned, and whose
	// agent goes on, or whose id is used again: "new" begins it anew in another
	// folder, "ID.after-…"; "refuse" stores nothing of it ever again, so that a call
	// that would take something out returns the history as it is with
	// [ErrArchiveFailed]. What was erased does not come back with either. Default
	// "new".
	Erased string `mapstructure:"erased" validate:"oneof=refuse new"`
	// AccessLog records who reads what of the archive: each recall and search of an
	// agent, and what compactctl shows and exports. What can't be recorded is not
	// read; default false.
	AccessLog bool `mapstructure:"access_log"`
	// Transcripts is "compactions" (the history before each compaction) or "all"
	// (each message once, also of sessions that never compact); default
	// "compactions".
	Transcripts string `mapstructure:"transcripts" validate:"oneof=compactions all"`

	// Repeat is how a transcript has what an earlier one has already: "reference"
	// says where it stands, so that each message is stored once; "full" writes it
	// again, so that every file is whole by itself. Default "reference".
	Repeat string `mapstructure:"repeat" validate:"oneof=reference full"`

	// Bucket and what follows is of s3. Credentials come from the default chain
	// of the SDK alone (environment, profile, web identity, container, instance).
	Bucket string `mapstructure:"bucket" validate:"required_if=Adapter s3"`
	// Prefix is the folder in the bucket; default none.
	Prefix string `mapstructure:"prefix"`
	// Region, where it is empty, is AWS_REGION or that of the profile.
	Region string `mapstructure:"region"`
	// Endpoint is the URL of the server; "": AWS.
	Endpoint string `mapstructure:"endpoint"`
	// PathStyle puts the bucket into the URL's path instead of its host; default
	// false.
	PathStyle bool `mapstructure:"path_style"`
	// KMSKeyID is the key that every object is encrypted with: its id, ARN or
	// alias; "": what the bucket does by default.
	KMSKeyID string `mapstructure:"kms_key_id"`
	// ObjectLock is the retention of every object; default that of the bucket.
	ObjectLock ObjectLockConfig `mapstructure:"object_lock"`
	// Encrypt says for whom what is stored is encrypted; default nobody.
	Encrypt EncryptConfig `mapstructure:"encrypt"`
	// Timeout bounds one operation with its retries; default 1m. Large files get
	// more.
	Timeout time.Duration `mapstructure:"timeout" validate:"gt=0"`

	// Spool is a folder that everything is written to first; it goes to S3
	// in the background. "": straight to S3.
	Spool string `mapstructure:"spool"`
	// SpoolKeep is how long a session stays there once it was sent; default 24h.
	SpoolKeep time.Duration `mapstructure:"spool_keep" validate:"gt=0"`
}

// EncryptConfig says for whom the archive is encrypted with age, on the disk, in the
// spool and in the bucket. It needs Config.OpenArchive. Who reads needs an identity, in
// COMPACT_ARCHIVE_IDENTITY or the file that COMPACT_ARCHIVE_IDENTITY_FILE names; who
// only writes needs none, and then knows a session only as long as the process lives.
type EncryptConfig struct {
	// Recipients are public keys of age, "age1…", at most seven; default none:
	// nothing is encrypted.
	Recipients []string `mapstructure:"recipients"`
	// RecipientsFile holds more of them, one a line; "": none.
	RecipientsFile string `mapstructure:"recipients_file"`
}

// On reports whether anybody is named.
func (e EncryptConfig) On() bool { return len(e.Recipients) > 0 || e.RecipientsFile != "" }

// ObjectLockConfig is the retention that every object gets.
type ObjectLockConfig struct {
	// Mode is "governance" or "compliance"; "": what the bucket does by default.
	Mode string `mapstructure:"mode" validate:"omitempty,oneof=governance compliance"`
	// Days is how long an object is kept, from the day on which it is written.
	Days int `mapstructure:"days" validate:"gte=0,lte=36500"`
}

// TraceConfig says where events go besides the audit log.
type TraceConfig struct {
	// AriadneURL is the API of an Ariadne, "http://127.0.0.1:5175" for example;
	// "": none.
	AriadneURL string `mapstructure:"ariadne_url" validate:"omitempty,http_url"`
	// Console writes one line an event on standard error; default false.
	Console bool `mapstructure:"console"`
	// PerSession makes one trace a session instead of one a model call; default
	// false.
	PerSession bool `mapstructure:"per_session"`

	// OTLPEndpoint is the URL of a collector that takes OTLP over HTTP; "": none.
	// This package links no OpenTelemetry: configs.Load makes the exporter and
	// puts it among Exporters, where a program can put one of its own.
	OTLPEndpoint string `mapstructure:"otlp_endpoint" validate:"omitempty,http_url"`
	// OTLPService is the service.name; "": OTEL_SERVICE_NAME, or "compact".
	OTLPService string `mapstructure:"otlp_service"`
	// OTLPTimeout bounds one request to the collector; default 5s.
	OTLPTimeout time.Duration `mapstructure:"otlp_timeout" validate:"gte=0"`
	// OTLPMetricsEndpoint is the URL of a collector that takes metrics in OTLP over
	// HTTP; "": none. As with OTLPEndpoint, configs.Load makes the exporter.
	OTLPMetricsEndpoint string `mapstructure:"otlp_metrics_endpoint" validate:"omitempty,http_url"`
	// OTLPMetricsInterval is how often they are sent; default 1m.
	OTLPMetricsInterval time.Duration `mapstructure:"otlp_metrics_interval" validate:"gte=0"`
	// Content says whether texts of the conversation, which are those of summaries
	// and patterns, go to the collector, too; default false. The audit log and
	// Ariadne always have them, redacted.
	Content bool `mapstructure:"content"`

	// CloseTimeout is how long Close waits for the exporters, whatever its context
	// allows; 0: 5s.
	CloseTimeout time.Duration `mapstructure:"-" validate:"gte=0"`
}

// Presets returns the names of the presets.
func Presets() []string {
	return []string{"graduated", "economy", "summarize", "masking", "history-reducer", "gateway"}
}

// Preset returns the whole configuration of a preset; "" is "graduated".
func Preset(name string) (Config, error) {
	c := graduated()
	if name == "" {
		name = "graduated"
	}
	change, ok := presets[name]
	if !ok {
		return Config{}, &ConfigError{Path: "preset", Value: name, Reason: oneOf(name, Presets())}
	}
	c.Preset = name
	change(&c)
	return c, nil
}

var presets = map[string]func(*Config){
	"graduated": func(*Config) {},
	presetEconomy: func(c *Config) {
		c.Policy.When = policy.Economic
		c.Policy.Stages = append([]string{tidy.StageName}, c.Policy.Stages...)
		c.Tidy.LargeTokens, c.Mask.MinTokens = 5000, 300
		c.Truncate.Keep = policy.Auto
		c.Summarizer.Fallback = "extractive"
	},
	"summarize": func(c *Config) {
		c.Policy.Stages = []string{"summarize", "shrink", "squeeze"}
		c.Mask.MinTokens, c.Summarizer.MaxTokens = 0, 1500
	},
	"masking": func(c *Config) {
		c.Policy.Stages = []string{"mask"}
		c.Mask.When = policy.Always
		c.Mask.KeepFirst, c.Mask.MinTokens = 0, 0
	},
	// Sizes are UTF-16 code units, max_context_tokens and summarizer.max_tokens
	// included. Nothing is done before the budget is exceeded.
	"history-reducer": func(c *Config) {
		c.Counting = "utf16"
		c.Policy.Stages = []string{"mask", "local", "fallback", "squeeze"}
		c.Policy.TriggerPct, c.Policy.HardCapBuffer = 1, 0
		c.Policy.KeepRecentMessages = policy.DefaultTail
		c.Mask.WindowTurns, c.Mask.KeepFirst, c.Mask.MinTokens, c.Mask.Media = 0, 0, 0, false
		c.Mask.DispatchTools = []string{"*"} // its source looks at the text alone
		c.Summarizer.MaxTokens = 1400
	},
	"gateway": func(c *Config) {
		c.Counting = "bytes4"
		c.MaxOutputTokens = 4096
		c.Policy.Stages = []string{"window", "truncate", "mask", "history", "groups", "drop", "squeeze"}
		c.Policy.TriggerPct, c.Policy.HardCapBuffer, c.Policy.MarginPct = 1, 0, 10
		c.Policy.MaxHistoryTokens = 20_000
		c.Truncate.When, c.Mask.When = policy.Always, policy.Always
		c.Mask.WindowTurns, c.Mask.KeepFirst, c.Mask.KeepLast, c.Mask.MinTokens, c.Mask.Media = 0, 2, 5, 0, false
	},
}

func graduated() Config {
	return Config{
		Counting: "model",
		Policy:   policy.Default(),
		Tidy:     policy.TidyConfig{LargeTokens: tidy.DefaultLarge, Wait: 20 * time.Millisecond},
		Truncate: policy.TruncateConfig{When: policy.AtTrigger, MaxToolResultTokens: 8000, Keep: policy.Head},
		Mask:     policy.MaskConfig{When: policy.AtTrigger, Every: 1, WindowTurns: 10, KeepFirst: 2, MinTokens: 50, Media: true, DispatchTools: policy.DefaultDispatchTools()},
		Summarizer: SummarizerConfig{
			Backend: "extractive", UserTokens: strategy.DefaultUserTokens, Timeout: 60 * time.Second, MaxAttempts: 3, Parallel: 4, Seed: 42,
			Fallback: "pruning-only",
		},
		Redaction: RedactionConfig{Enabled: true, Summarizer: true},
		Storage:   StorageConfig{Adapter: "fs", Path: ".compact/archive", OnError: "fail", Erased: "new", Transcripts: "compactions", Repeat: "reference", Timeout: time.Minute, SpoolKeep: 24 * time.Hour},
		Trace:     TraceConfig{OTLPTimeout: 5 * time.Second, OTLPMetricsInterval: time.Minute},
		Sessions:  SessionsConfig{MaxBytes: 256 << 20},
		Cache:     CacheConfig{Marks: "keep"},
		complete:  true,
	}
}

// filled returns c with the preset's value in every field that is zero.
func (c Config) filled() (Config, error) {
	if c.Strategy != nil {
		c.Policy.Strategy = c.Strategy.Name
	}
	if c.complete {
		return c, nil
	}
	base, err := Preset(c.Preset)
	if err != nil {
		return c, err
	}
	overlay(reflect.ValueOf(&base).Elem(), reflect.ValueOf(c))
	// The booleans whose default is true can't be told from "not set" in a struct:
	// a struct that names no redaction keeps it on, and what is written in the
	// background is switched off by a PreparePct of 1.
	base.Redaction.Enabled, base.Redaction.Summarizer = true, true
	base.complete = true
	if s := &base.Summarizer; c.Summarizer.Backend == "" && c.Summarize == nil && (s.Model != "" || s.BaseURL != "") {
		s.Backend = backendOpenAI
	}
	return base, nil
}

// overlay copies the fields of src that are not zero.
func overlay(dst, src reflect.Value) {
	for i := range src.NumField() {
		from, to := src.Field(i), dst.Field(i)
		switch {
		case !to.CanSet() || from.IsZero():
		case from.Kind() == reflect.Struct:
			overlay(to, from)
		default:
			to.Set(from)
		}
	}
}

// window returns the size of a model's window. What is configured holds for
// the configured model; for another it can only make the window smaller.
func (c Config) window(model string) int {
	switch {
	case c.MaxContextTokens > 0 && (model == c.Model || model == ""):
		return c.MaxContextTokens
	case c.MaxContextTokens > 0:
		return min(c.MaxContextTokens, token.ContextWindow(model))
	}
	return token.ContextWindow(model)
}
