package reference

import (
	"strings"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy/tidy"
)

// heads are the first lines of each file.
var heads = map[string]string{
	"graduated": `The preset "graduated", the default: cut huge tool results, mask old ones, summarize the old part, and only then give anything up.
Copy this file and change what you need; what you leave out keeps the value that stands here. The environment goes over it: COMPACT_POLICY_TRIGGER_PCT, or COMPACT_TRIGGER_PCT for short.`,
	"economy":         `The preset "economy": the stages of graduated, as soon as they pay by the prices of the model (docs/ECONOMY.md), and at the window at the latest.`,
	"summarize":       `The preset "summarize": the old part of a conversation becomes a summary, nothing is masked.`,
	"masking":         `The preset "masking": old tool results become placeholders at every call. No summary is made, and nothing else is touched.`,
	"history-reducer": `The preset "history-reducer": mask, then a local summary, then truncation. Sizes are characters (UTF-16 units), not tokens.`,
	"gateway":         `The preset "gateway": no model is asked for a summary. Tokens are estimated as bytes / 4.`,
}

// foot is the end of each file.
const foot = `# These keys are no settings: they are for files that several share.
#
# The file below which this one stands, seen from its folder. Lists replace those of it.
# extends: ../company.yaml
#
# Settings and sections that the files which extend this one, the environment and flags
# can't weaken (redaction: true stays true; a retention may become longer). Who tries is
# told so, with the file that locks it.
# locked: [redaction, storage]
#
# Settings for the calls of some models or agents: of policy, tidy, truncate, mask,
# summarizer and prices, max_context_tokens, max_output_tokens, max_request_bytes. * is
# any text. The last one that is for a call wins. They stand over all files, below the
# environment and flags.
# overrides:
#   - {model: "claude-*", agent: reviewer, policy: {trigger_pct: 0.70}}
#   - {agent: "batch-*", policy: {when: never}}
`

// comments describe each setting.
var comments = map[string]string{
	"preset":             `What the settings that are left out come from: graduated, economy, summarize, masking, history-reducer, gateway.`,
	"model":              `The model that is sent the messages, such as gpt-4o: decides the tokenizer, and the window unless that is set below.`,
	"max_context_tokens": `The window, input and output together. 0: what the model is known to have.`,
	"max_output_tokens":  `Kept free for the answer.`,
	"max_request_bytes":  `How large the body of a request may be, in bytes: where pictures and files make it larger, the oldest of them are masked (mask.media). 0: what the provider publishes (Anthropic 32 MB, OpenAI 50 MB, Gemini 100 MB); -1: no bound.`,
	"counting":           `model: in the model's own tokens; bytes4: bytes / 4; utf16: characters as JavaScript counts them.`,

	"observe": `true: nothing is changed and nothing archived; events say what would have been done and saved.`,

	"policy":                    `When a conversation is compacted, how far, and what is kept.`,
	"policy.stages":             `What may be done, in this order, each only as far as it must: some of ` + strings.Join(compact.StageNames(), ", ") + `.`,
	"policy.when":               `window: at the shares of it that follow; trigger is the same; economic: also below that, as soon as a compaction pays by the prices below; never: nothing is compacted, however large it is, unless somebody asks for it. What was done before stays done.`,
	"policy.recall_weight":      `With economic: what something that went and is needed again counts, in prices of fetching it. More keeps more.`,
	"policy.overrun_pct":        `With economic: a compaction may cost at most this share of what the calls so far cost with the whole history, beyond what it saves at once; each is held against it by itself.`,
	"policy.background":         `A summary that a model writes is written beside the calls, before one needs it, so that none waits for a model that had time. Nothing where no model writes summaries.`,
	"policy.prepare_pct":        `From this share on of the amount at which a call would compact. 1: never.`,
	"policy.trigger_pct":        `A compaction is due from this share of the window on ...`,
	"policy.target_pct":         `... and goes on until this share is reached.`,
	"policy.hard_cap_buffer":    `Tokens at the end of the window that are never used.`,
	"policy.margin_pct":         `The same as a share of the window, in percent, on top.`,
	"policy.keep_recent_turns":  `The newest turns are left as they are ...`,
	"policy.keep_tool_io_pairs": `... and so are the newest tool calls with their results.`,
	"policy.roles_never_prune":  `Messages of these roles are never touched: of system, developer, user, assistant, tool.`,
	"policy.max_history_tokens": `The stage history: the most that is left of the conversation before the last request, newest first. 0: what the budget leaves.`,
	"policy.keep_recent_messages": `The stages local and fallback: the last messages that stay raw. Not 0 in others: mask keeps the results ` +
		`of these messages instead of those of turns.`,
	"policy.strategy": `What a summary holds: task_state, decision_log, code_delta, brief.`,

	"tidy":               `The stage tidy, where policy.stages names it: tool results are reduced when they come, before any call has sent them, so that no cached prompt changes.`,
	"tidy.large_tokens":  `A result from this size on is left with what its reader needs: the outline of code, what failed in tests, the first of each line of a log, the shape of data, counts of listings. What the call itself asked for by lines stays whole, and so does every line that holds an error.`,
	"tidy.off":           `Reducers that are not used: some of ` + strings.Join(tidy.Names(), ", ") + `.`,
	"tidy.exclude_tools": `Tools whose results stay as they come.`,
	"tidy.wait":          `How long a call waits until the archive has the originals; after that the results go out whole, and stay so.`,

	"truncate":                        `One tool result that is too large by itself is cut.`,
	"truncate.when":                   `trigger: when a compaction is due; always: when it is first seen.`,
	"truncate.max_tool_result_tokens": `The most that is left of it; at most a quarter of the budget in any case.`,
	"truncate.keep":                   `Which end is kept: head, tail, both, or auto (both of what a command printed, else head).`,

	"mask":               `Old tool results become a line that says how much was there.`,
	"mask.when":          `trigger: in one batch when a compaction is due, which keeps the provider's prompt cache; always: at every call.`,
	"mask.every":         `With always: turns between two batches. 1: the window slides with every turn.`,
	"mask.window_turns":  `Results of the newest turns stay ...`,
	"mask.keep_first":    `... and so do the first results ...`,
	"mask.keep_last":     `... and the last ones ...`,
	"mask.exclude_tools": `... and all results of these tools.`,
	"mask.dispatch_tools": `Tools that hand work to other agents: the BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT blocks in their results survive masking, and in no other's. ` +
		`Names, in any case; * stands for any letters. [] for none.`,
	"mask.min_tokens":            `What a mask has to save; a result where it would save less stays.`,
	"mask.media":                 `true: old pictures, sounds and files become a line, too, before any text does, and not before the trigger.`,
	"mask.max_observation_chars": `Not 0: a masked result keeps its beginning, at most so many characters with the placeholder.`,
	"mask.plain":                 `true: a placeholder says how much was there, and nothing of the call it stands for.`,
	"mask.template":              `A placeholder of your own. It knows {chars} {tokens} {tool} {turn} {ref} {status}. "": the preset's.`,

	"summarizer": `Who writes summaries. Secrets never stand here: the key of openai comes from OPENAI_API_KEY.`,
	"summarizer.backend": `extractive: no model, no network; openai: any server that speaks OpenAI's chat completions; agent: the agent's own model, ` +
		`asked behind the agent's last request, which its provider has in its cache, with the credentials of the request that is under way (needs ` +
		`compactctl serve or run, or hook/transport; extractive where that cannot be). It is openai where nothing stands here, but a model or a base_url does.`,
	"summarizer.model":      `The model to ask; it may be a cheaper one than the agent's.`,
	"summarizer.base_url":   `Its server, such as http://localhost:11434/v1. "": OpenAI's.`,
	"summarizer.max_tokens": `The most that a summary may take. 0: a twentieth of the target, at least 1500 and at most 8000.`,
	"summarizer.user_tokens": `The most that what people typed may take beside that, at most a tenth of the target (of half of the trigger, where the target is lower; then at most a quarter of it): word for word, by turn. Over it the ` +
		`longest are cut in the middle, the last ten never.`,
	"summarizer.instructions": `What a summarizing model is asked for besides, such as "Write in German.". The user's words, the plan and the check against ` +
		`the history stay as they are, whatever stands here.`,
	"summarizer.sections": `Headings in place of those of the strategy, such as [Ticket, What the customer was promised]. What happened, where ` +
		`things stand and what is next follow in every summary.`,
	"summarizer.prompt_file": `A file whose text the model is given in place of the strategy's instructions and examples; the rules of every summary ` +
		`follow it. Seen from where the program runs, read when it starts.`,
	"summarizer.window_tokens": `The window of the summarizing model. 0: what it is known to have.`,
	"summarizer.timeout":       `For a whole summary, retries included: each try has its share. A caller may have less time: the summary goes on without it.`,
	"summarizer.max_attempts":  `Tries of one call; the agent's own model is asked once.`,
	"summarizer.parallel":      `Pieces of one summary that are written at once.`,
	"summarizer.seed":          `Sent to the model, for answers that are the same each time.`,
	"summarizer.fallback": `When there is no summary to be had. pruning-only: a notice stands for the old part, and what people typed stays as far as it fits; ` +
		`extractive: a summary without a model, which is recommended where a model writes them. ` +
		`So too where the caller's deadline comes before the summary, which then serves the next call.`,

	"redaction":          `What is taken out of everything that is stored, exported or sent to a summarizing model. The messages that the agent's own model is sent stay as they are.`,
	"redaction.enabled":  `false stores secrets. Every export then says so, with high severity.`,
	"redaction.strict":   `Also take what merely looks like api_key=... or password: ..., such as a type or a variable.`,
	"redaction.pii":      `Also e-mail addresses, telephone numbers, cards and IBANs.`,
	"redaction.patterns": `Regular expressions (RE2) of your own; the first group, or the whole match, is the secret.`,
	"redaction.pseudonyms": `A placeholder says which secret it stands for, <REDACTED:aws_key:7f3a>: the same for the same secret, by a hash whose ` +
		`key comes from COMPACT_PSEUDONYM_KEY (16 bytes or more).`,
	"redaction.summarizer": `false sends the old part to a summarizing model as it is.`,

	"storage":             `Where what is taken out goes, before it is taken out.`,
	"storage.adapter":     `fs: a folder; memory: nothing outlives the process, and placeholders name neither calls nor references; s3: a bucket.`,
	"storage.path":        `The folder, seen from where the program runs.`,
	"storage.access_log":  `true: who reads what of the archive is recorded beside the sessions, and what cannot be recorded is not read.`,
	"storage.erased":      `What becomes of a session that was erased or pruned and whose agent goes on. new: it begins anew in another folder, ID.after-…; refuse: nothing of it is stored again, and so nothing taken out: calls above the window fail. What was erased does not come back with either.`,
	"storage.on_error":    `fail: if nothing can be stored nothing is taken out; continue: take it out all the same, and say so, even where the archive cannot be opened.`,
	"storage.transcripts": `compactions: the history before each compaction; all: each message, also of sessions that never compact.`,
	"storage.repeat":      `How a transcript has what an earlier one has already. reference: it says where that stands, so that each message is stored once. full: it is written again, so that every file is whole by itself, and nine steps take 8 times the history.`,

	"storage.bucket":           `The bucket of s3. Secrets never stand here: credentials come from the environment, a profile, web identity, or the container.`,
	"storage.prefix":           `The folder in the bucket.`,
	"storage.region":           `The region. "": AWS_REGION, or that of the profile.`,
	"storage.endpoint":         `The server, such as https://minio.internal:9000. "": AWS.`,
	"storage.path_style":       `true: the bucket stands in the path of the URL, not in its host's name.`,
	"storage.kms_key_id":       `The KMS key that every object is encrypted with: its id, ARN or alias. "": what the bucket does by default.`,
	"storage.object_lock":      `The retention of every object. The bucket must have been made with Object Lock.`,
	"storage.object_lock.mode": `governance: who has the right to can shorten it; compliance: nobody can. "": what the bucket does by default.`,
	"storage.object_lock.days": `From the day on which an object is written.`,
	"storage.encrypt":          `For whom what is stored is encrypted (age), on the disk, in the spool and in the bucket. Names and sizes are not hidden.`,
	"storage.encrypt.recipients": `Public keys, such as age1…, at most seven; []: nothing is encrypted. Who reads needs an identity, in COMPACT_ARCHIVE_IDENTITY, ` +
		`or in the file that COMPACT_ARCHIVE_IDENTITY_FILE names. Who has none writes, and reads what this process wrote.`,
	"storage.encrypt.recipients_file": `A file with more of them, one a line.`,
	"storage.timeout":                 `For one operation on S3, retries included; large files get more.`,
	"storage.spool": `A folder that everything is written to first, durably; it goes to S3 in the background, so that S3 can be away for a while. ` +
		`"": straight to S3. One machine at a time for each session.`,
	"storage.spool_keep": `How long a session stays in that folder once it was sent.`,

	"trace":             `Where events go besides the audit log in the archive.`,
	"trace.ariadne_url": `An Ariadne server, such as http://127.0.0.1:5175. "": none.`,
	"trace.otlp_endpoint": `An OpenTelemetry collector that takes OTLP over HTTP, such as http://127.0.0.1:4318. "": none. ` +
		`Secrets never stand here: headers come from OTEL_EXPORTER_OTLP_HEADERS.`,
	"trace.otlp_service":          `What the spans say they come from (service.name). "": OTEL_SERVICE_NAME, or compact.`,
	"trace.otlp_timeout":          `For one request to the collector.`,
	"trace.otlp_metrics_endpoint": `A collector that takes metrics in OTLP over HTTP, which may be the same. "": none. serve has /metrics in any case.`,
	"trace.otlp_metrics_interval": `How often they are sent.`,
	"trace.content":               `Send the texts of summaries and searches to the collector, too. They are redacted, and always in the audit log.`,
	"trace.console":               `One line an event on standard error.`,
	"trace.per_session":           `One trace for each session instead of one for each model call.`,

	"sessions": `How much is remembered of sessions.`,
	"sessions.max_bytes": `For those that no call is under way for. The ones that were idle for longest are forgotten, and read from the archive ` +
		`again when they come back.`,

	"cache": `What is done for the provider's prompt cache.`,
	"cache.marks": `Marks (cache_control) on Anthropic's wire, in the transport and the proxy. keep: the caller's alone; one on a message that goes ` +
		`moves to the last before it that stays. auto: as far as four allow, also at the end of the system prompt or of the tools, behind the summary and at the last message.`,

	"prices": `What calls cost, in US dollars for a million tokens, where that is not what the list says of the model: for the bill of each call, and for policy.when economic. ` +
		`0 is the price of the list; with input alone the others are scaled to it.`,
	"prices.model":            `The model whose list prices count, whatever model is called, such as claude-sonnet-4-5. "": that of the call.`,
	"prices.input":            `Tokens of the prompt that no cache has to do with.`,
	"prices.cache_read":       `What the provider reads from its prompt cache. Not above what writing costs: such prices are ignored, with a warning.`,
	"prices.cache_write":      `What it writes into it, for its shorter lifetime.`,
	"prices.cache_write_hour": `The same for a lifetime of an hour.`,
	"prices.output":           `Tokens of answers.`,
	"prices.min_prefix":       `The shortest prompt that is cached, in tokens.`,
	"prices.granularity":      `What the length of a cached prefix is a multiple of, in tokens.`,
	"prices.lifetime":         `How long a cached prefix lives that nobody reads.`,
	"prices.marks":            `How many prefixes a request may mark for the cache.`,
}
