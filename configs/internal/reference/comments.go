package reference

import (
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy/tidy"
)

// heads are the first lines of each file.
var heads = map[string]string{
	"graduated": `The preset "graduated", the default: cut huge tool results, mask old ones, summarize the old part, and remove messages only as a last resort.
Copy this file and change what you need. A setting that you leave out keeps the value shown here. Environment variables override the file: COMPACT_POLICY_TRIGGER_PCT, or COMPACT_TRIGGER_PCT for short.`,
	"economy":         `The preset "economy": the stages of graduated, as soon as they pay by the prices of the model (docs/ECONOMY.md), and at the latest when the window requires it.`,
	"summarize":       `The preset "summarize": the old part of a conversation becomes a summary. Nothing is masked.`,
	"masking":         `The preset "masking": old tool results become placeholders at every call. No summary is made, and nothing else is touched.`,
	"history-reducer": `The preset "history-reducer": mask, then a local summary, then truncation. Sizes are characters (UTF-16 units), not tokens.`,
	"gateway":         `The preset "gateway": no model is asked for a summary. Tokens are estimated as bytes / 4.`,
}

// foot is the end of each file.
const foot = `# These keys are not settings. They control how several files share settings.
#
# The base of this file, relative to its folder. Lists here replace lists of the base.
# extends: ../company.yaml
#
# Settings and sections that must not be weakened by files which extend this one, by the
# environment or by flags (redaction: true stays true; a retention may become longer). An
# attempt is an error that names the locking file.
# locked: [redaction, storage]
#
# Settings for the calls of some models or agents. Allowed are the sections policy, tidy,
# truncate, mask, summarizer and prices, and max_context_tokens, max_output_tokens and
# max_request_bytes. * matches any text. If several overrides apply to a call, the last
# one wins. Overrides take precedence over all files, but not over the environment and
# flags.
# overrides:
#   - {model: "claude-*", agent: reviewer, policy: {trigger_pct: 0.70}}
#   - {agent: "batch-*", policy: {when: never}}
`

// comments describe each setting.
var comments = map[string]string{
	"preset":             `The preset that supplies the settings you leave out: graduated, economy, summarize, masking, history-reducer, gateway.`,
	"model":              `The model that receives the messages, such as gpt-4o. It determines the tokenizer, and the window unless that is set below.`,
	"max_context_tokens": `The window, input and output together. 0: the known window of the model.`,
	"max_output_tokens":  `Tokens reserved for the answer.`,
	"max_request_bytes":  `The largest body of a request, in bytes. If images and files make it larger, the oldest of them are masked (mask.media). 0: the limit that the provider publishes (Anthropic 32 MB, OpenAI 50 MB, Gemini 100 MB); -1: no limit.`,
	"counting":           `The unit of all token counts. model: tokens of the model; bytes4: bytes / 4; utf16: characters as JavaScript counts them.`,

	"observe": `true: nothing is changed and nothing is archived; events report what would have been done and saved.`,

	"policy":                    `When a conversation is compacted, how far, and what is kept.`,
	"policy.stages":             `The stages in the order in which they run, each only as far as needed: some of ` + strings.Join(compact.StageNames(), ", ") + `.`,
	"policy.when":               `window: at the shares of the window below; trigger: the same; economic: also earlier, as soon as a compaction pays by the prices below; never: only on request, whatever the size. Earlier compactions remain in effect.`,
	"policy.recall_weight":      `With economic: the cost of removing something that is needed again, in multiples of the price of one recall. A higher weight keeps more.`,
	"policy.overrun_pct":        `With economic: the most that one compaction may cost beyond what it saves at once, as a share of the cost so far with the whole history. Each compaction is judged by itself.`,
	"policy.background":         `Write a model's summary in the background before a call needs it, so that no call waits for it. No effect if no model writes summaries.`,
	"policy.prepare_pct":        `The background summary begins at this share of the size at which a call would compact. 1: never.`,
	"policy.trigger_pct":        `A compaction is due at this share of the window.`,
	"policy.target_pct":         `A compaction stops at this share of the window.`,
	"policy.hard_cap_buffer":    `Tokens at the end of the window that are never used.`,
	"policy.margin_pct":         `An additional reserve as a share of the window, in percent.`,
	"policy.keep_recent_turns":  `The last turns that no stage changes.`,
	"policy.keep_tool_io_pairs": `The last tool calls that no stage changes, with their results.`,
	"policy.roles_never_prune":  `Messages of these roles are never changed. Allowed: system, developer, user, assistant, tool.`,
	"policy.max_history_tokens": `The stage history: the most tokens that it keeps of the conversation before the last request, newest first. 0: as many as fit the budget.`,
	"policy.keep_recent_messages": `The last messages that the stages local and fallback leave unchanged. If not 0, mask also keeps the results ` +
		`of these messages, instead of those of the last turns.`,
	"policy.strategy": `The kind of summary: task_state, decision_log, code_delta, brief.`,

	"tidy":               `The stage tidy, if policy.stages names it: tool results are reduced on arrival, before any call has sent them, so that no cached prompt changes.`,
	"tidy.large_tokens":  `A result from this size on is reduced to what its reader needs: the outline of code, the failures of tests, the first line of each kind in a log, the shape of data, counts of listings. A result whose call asked for certain lines stays whole. Lines that hold an error stay, except in code, documents, pages, patches and searches.`,
	"tidy.off":           `Reducers to switch off: some of ` + strings.Join(tidy.Names(), ", ") + `.`,
	"tidy.exclude_tools": `Tools whose results stay as they are.`,
	"tidy.wait":          `How long a call waits for the archive to store the originals. After that the results are sent whole, and are not reduced later.`,

	"truncate":                        `A single tool result that is too large is cut.`,
	"truncate.when":                   `trigger: when a compaction is due; always: when the result first appears.`,
	"truncate.max_tool_result_tokens": `The largest size of one result. Except in the preset gateway, a quarter of the budget is a limit too.`,
	"truncate.keep":                   `The part that is kept: head, tail, both, or auto (both for the output of a command, otherwise head).`,

	"mask":               `Old tool results become a line that states their size.`,
	"mask.when":          `trigger: in one batch when a compaction is due, which preserves the provider's prompt cache; always: at every call.`,
	"mask.every":         `With always: turns between two batches. 1: the window moves every turn.`,
	"mask.window_turns":  `The number of last turns whose results are not masked.`,
	"mask.keep_first":    `The number of first results that are not masked.`,
	"mask.keep_last":     `The number of last results that are not masked.`,
	"mask.exclude_tools": `Tools whose results are never masked.`,
	"mask.dispatch_tools": `Tools that hand work to other agents. A mask keeps the BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT blocks of their results, and of no others. ` +
		`Case is ignored; * stands for any characters. []: none.`,
	"mask.min_tokens":            `The tokens that a mask must save. A result that would save less stays.`,
	"mask.media":                 `true: old images, audio and files also become a line. They are masked before any text, but not before the trigger.`,
	"mask.max_observation_chars": `If not 0, a masked result keeps its beginning. Beginning and placeholder have at most this many characters.`,
	"mask.plain":                 `true: a placeholder states only the size, and nothing about the call.`,
	"mask.template":              `A custom placeholder with the fields {chars} {tokens} {tool} {turn} {ref} {status}. "": the placeholder of the preset.`,

	"summarizer": `Who writes summaries. Secrets are never in this file: the key for openai comes from OPENAI_API_KEY.`,
	"summarizer.backend": `extractive: no model, no network; openai: any server that speaks OpenAI's chat completions; agent: the agent's own model, ` +
		`asked with an instruction after the agent's last request, which the provider has in its cache, with the credentials of the current request (needs ` +
		`compactctl serve or run, or hook/transport; otherwise extractive). If only a model or a base_url is set, the backend is openai.`,
	"summarizer.model":      `The model to use; it may be cheaper than the agent's.`,
	"summarizer.base_url":   `The URL of its server, such as http://localhost:11434/v1. "": OpenAI.`,
	"summarizer.max_tokens": `The largest size of a summary. 0: a twentieth of the target, at least 1500 and at most 8000.`,
	"summarizer.user_tokens": `The largest size of the users' own words, which a summary holds in addition, word for word and by turn. The limit is never more than a tenth of the target, ` +
		`or of half of the trigger if that is larger, and never more than a quarter of the target. ` +
		`A message of more than 4,000 characters is cut to that length or less. If all messages exceed the limit, the longest are cut further, except the last ten. A cut text keeps its first sentence, requests and rules, and the sentences that say most.`,
	"summarizer.instructions": `Additional instructions for a summarizing model, such as "Write in German.". They do not affect the user's words, the plan ` +
		`and the check against the history.`,
	"summarizer.sections": `Headings that replace those of the strategy, such as [Ticket, What the customer was promised]. Every summary also says ` +
		`what happened, where things stand and what is next.`,
	"summarizer.prompt_file": `A file whose text replaces the strategy's instructions and examples for the model; the general rules for summaries ` +
		`follow it. Relative to the working directory; read at startup.`,
	"summarizer.window_tokens": `The window of the summarizing model. 0: its known window.`,
	"summarizer.timeout":       `Limit for a whole summary with all retries; each try gets its share. If the caller's deadline comes first, the call returns, and the summary is finished in the background.`,
	"summarizer.max_attempts":  `Tries of one call. The agent's own model is asked only once.`,
	"summarizer.parallel":      `Pieces of one summary that are written at the same time.`,
	"summarizer.seed":          `Sent to the model to make its answers repeatable.`,
	"summarizer.fallback": `What happens if a summary fails. pruning-only: a notice replaces the old part, and users' messages stay as far as they fit; ` +
		`extractive: a summary without a model (recommended for the backend openai). ` +
		`The same happens if the caller's deadline comes first; the next call then uses the summary.`,

	"redaction":          `What is removed from everything that is stored, exported or sent to a summarizing model. The messages for the agent's own model do not change.`,
	"redaction.enabled":  `false: secrets are stored. Every export then has an event of high severity that reports it.`,
	"redaction.strict":   `Also remove text that only looks like api_key=... or password: ..., such as a type or a variable.`,
	"redaction.pii":      `Also remove e-mail addresses, telephone numbers, cards and IBANs.`,
	"redaction.patterns": `Custom regular expressions (RE2). The first group, or else the whole match, is the secret.`,
	"redaction.pseudonyms": `The placeholder of a secret depends on its value, such as <REDACTED:aws_key:7f3a>, so that equal secrets have equal placeholders. ` +
		`The key of the hash comes from COMPACT_PSEUDONYM_KEY (16 bytes or more).`,
	"redaction.summarizer": `false: the old part goes to a summarizing model unredacted.`,

	"storage":             `Where removed text is stored before it is removed.`,
	"storage.adapter":     `fs: a folder; memory: lost when the process ends, and placeholders name neither calls nor references; s3: a bucket.`,
	"storage.path":        `The folder, relative to the working directory; or file:// and an absolute path.`,
	"storage.access_log":  `true: each access to the archive is recorded beside the sessions. If the record fails, the access is refused.`,
	"storage.erased":      `For a session that was erased or pruned while its agent continues. new: it starts again in another folder, ID.after-…; refuse: nothing of it is stored again, so that nothing can be removed and calls above the window fail. Erased data never comes back.`,
	"storage.on_error":    `What happens if the archive fails. fail: nothing is removed, and the call returns an error; continue: text is removed without being stored, with a warning, even if the archive cannot be opened.`,
	"storage.transcripts": `compactions: the history before each compaction; all: each message, also of sessions that never compact.`,
	"storage.repeat":      `How a transcript stores messages that an earlier transcript of the session already has. reference: as a reference to that file, so each message is stored once; full: as a copy, so every file is complete by itself (nine steps take 8 times the history).`,

	"storage.bucket":           `The bucket of s3. Secrets are never in this file: credentials come from the environment, a profile, web identity, or the container.`,
	"storage.prefix":           `The folder in the bucket.`,
	"storage.region":           `The region. "": AWS_REGION, or that of the profile.`,
	"storage.endpoint":         `The server, such as https://minio.internal:9000. "": AWS.`,
	"storage.path_style":       `true: the bucket is part of the path of the URL, not of the host name.`,
	"storage.kms_key_id":       `The KMS key that encrypts every object: its id, ARN or alias. "": the default of the bucket.`,
	"storage.object_lock":      `The retention of every object. The bucket must have been created with Object Lock.`,
	"storage.object_lock.mode": `governance: users with the permission can shorten the retention; compliance: nobody can. "": the default of the bucket.`,
	"storage.object_lock.days": `Days from the day on which an object is written.`,
	"storage.encrypt":          `Encryption of the archive with age: on the disk, in the spool and in the bucket. Names and sizes are not hidden.`,
	"storage.encrypt.recipients": `Public keys, such as age1…, at most seven; []: nothing is encrypted. Readers need an identity, in COMPACT_ARCHIVE_IDENTITY ` +
		`or in the file named by COMPACT_ARCHIVE_IDENTITY_FILE. Without an identity, a process can write, but reads only what it wrote itself.`,
	"storage.encrypt.recipients_file": `A file with more recipients, one per line.`,
	"storage.timeout":                 `Limit for one operation on S3 with its retries; large files get more.`,
	"storage.spool": `A folder to which everything is durably written first. It is sent to S3 in the background, so that S3 may be unreachable for a while. ` +
		`"": write to S3 directly. Only one machine at a time may write a session.`,
	"storage.spool_keep": `How long a session stays in that folder after it was sent.`,

	"trace":             `Where events go in addition to the audit log in the archive.`,
	"trace.ariadne_url": `An Ariadne server, such as http://127.0.0.1:5175. "": none.`,
	"trace.otlp_endpoint": `An OpenTelemetry collector for OTLP over HTTP, such as http://127.0.0.1:4318. "": none. ` +
		`Secrets are never in this file: headers come from OTEL_EXPORTER_OTLP_HEADERS.`,
	"trace.otlp_service":          `The service.name of the spans. "": OTEL_SERVICE_NAME, or compact.`,
	"trace.otlp_timeout":          `Limit for one request to the collector.`,
	"trace.otlp_metrics_endpoint": `A collector for metrics in OTLP over HTTP, which may be the same one. "": none. serve has /metrics in any case.`,
	"trace.otlp_metrics_interval": `How often metrics are sent.`,
	"trace.content":               `Also send the texts of summaries and searches to the collector. They are redacted. The audit log has them in any case.`,
	"trace.console":               `Write one line per event to standard error.`,
	"trace.per_session":           `One trace per session instead of one per model call.`,

	"sessions": `The memory for sessions.`,
	"sessions.max_bytes": `Limit for sessions without a running call. The sessions that were idle for longest are dropped from memory, and read from the archive ` +
		`again when they continue.`,

	"cache": `Support for the provider's prompt cache.`,
	"cache.marks": `Marks (cache_control) for Anthropic, in the transport and the proxy. keep: only the caller's; if its message is removed, a mark ` +
		`moves to the last remaining message before it. auto: up to four in all, also at the last message, at the end of the previous request if many blocks follow it, at the end of the system prompt or of the tools, at the last masked message, and after the summary.`,

	"prices": `Prices in US dollars per million tokens that replace the model's list prices: for the bill of each call, and for policy.when economic. ` +
		`0: the list price; if only input is set, the others are scaled to it.`,
	"prices.model":            `The model whose list prices apply to every call, such as claude-sonnet-4-5. "": the model of the call.`,
	"prices.input":            `Prompt tokens that are neither read from a cache nor written into one.`,
	"prices.cache_read":       `Tokens read from the prompt cache. Must not exceed cache_write: such prices are ignored, with a warning.`,
	"prices.cache_write":      `Tokens written into the cache, for its shorter lifetime.`,
	"prices.cache_write_hour": `The same for a lifetime of an hour.`,
	"prices.output":           `Tokens of answers.`,
	"prices.min_prefix":       `The shortest prompt that is cached, in tokens.`,
	"prices.granularity":      `The length of a cached prefix is a multiple of this number of tokens.`,
	"prices.lifetime":         `How long the cache keeps a prefix that is not read.`,
	"prices.marks":            `The number of prefixes that a request may mark for the cache.`,
}
