// Package transport is the hook for every SDK: an [http.RoundTripper] that
// compacts the requests of model calls on their way out. The agent's own history
// does not change: the next call sends it in full again, and gets the same view.
//
//	m, err := compact.New(ctx, compact.Config{Model: "gpt-4o"})
//	client := &http.Client{Transport: transport.New(m)}
//
// # SDKs
//
// An SDK that accepts an [http.Client] accepts the transport. openai-go and
// anthropic-sdk-go also accept a [Middleware]. Use the middleware if a later
// option signs the request (Bedrock, Vertex), and register it before that option.
//
//	// github.com/sashabaranov/go-openai
//	config := openai.DefaultConfig(key)
//	config.HTTPClient = &http.Client{Transport: transport.New(m)}
//
//	// github.com/openai/openai-go
//	client := openai.NewClient(option.WithMiddleware(transport.Middleware(m)))
//
//	// github.com/anthropics/anthropic-sdk-go
//	client := anthropic.NewClient(option.WithMiddleware(transport.Middleware(m)))
//
//	// google.golang.org/genai
//	client, err := genai.NewClient(ctx, &genai.ClientConfig{HTTPClient: &http.Client{Transport: transport.New(m)}})
//
// # Compacted requests
//
// The transport compacts POST requests with a JSON body to paths that end with /chat/completions,
// /responses, /messages, :generateContent or :streamGenerateContent. This includes the paths of
// Azure and of Gemini on Vertex. The transport also compacts requests to models of Anthropic on
// Vertex (:rawPredict, :streamRawPredict). On Azure a request names a deployment in place of a
// model: [Models] maps it. Bedrock's own API (/model/{id}/…) and other models on Vertex are sent
// unchanged, and OnError says so once. Bodies in gzip and deflate are decompressed, and sent
// uncompressed if they are changed. Everything else is sent unchanged: other paths and methods,
// bodies in other encodings, signed requests, bodies above [MaxBody], and requests whose history
// the provider stores or compacts itself (previous_response_id, conversation, context_management,
// …). For model calls, OnError is called with the reason once per conversation, if the conversation
// can be identified without reading the body. The field meta of a message ({"protected": true})
// protects it, and is never sent.
//
// Gemini's cachedContent counts as a fixed cost, whose size the first answer
// reports; the rest is compacted.
//
// # Sessions
//
// The session is named by [WithSession], otherwise by the header X-Compact-Session, otherwise by an
// identifier in the request: a member of metadata or client_metadata (session_id, conversation_id,
// thread_id, chat_id), the session in Claude Code's metadata.user_id, the headers
// X-Claude-Code-Session-Id and X-Codex-Turn-Metadata, X-Session-Affinity (OpenCode) and session_id
// (pi). The id is then "request:", the field and the name, as in "request:metadata.thread_id:42".
// Sub-agents that identify themselves (X-Claude-Code-Agent-Id, X-Parent-Session-Id, agent_name of
// Codex) are agents of that session. Other sub-agents, and requests for titles, may share the
// session's name. Conversations under one name are distinguished by the user's first message and
// the first answer, and are compacted separately; a recall under the name searches all of them.
// testdata/agents holds recorded requests of agents. A session that the program names
// ([WithSession], X-Compact-Session) has one conversation for each agent that the program names
// ([WithAgent], X-Compact-Agent); several conversations under the same names wait for each other.
//
// If Claude Code, Codex, Gemini CLI, OpenCode or pi asks for a summary of its own
// history, the request is sent unchanged, and [OnError] is called with ErrPassed.
// Such a request is recognized by the beginning of its instructions or of its
// last message. The history that begins with the summary is a new branch of the
// session.
//
// A request without a session name is identified by its host, its credentials,
// the user's first message and the first answer, but not by the system prompt,
// which may hold a clock. Host, credentials and first message form the session,
// the answer forms a branch of it; before the first answer there is nothing to
// compact. If an agent calls tools before any user message, its own first words
// identify it. Conversations with the same beginning share only edits of the
// messages that they have in common.
//
// Several conversations can have the same prompt_cache_key or user (for Gemini CLI: the same
// installation), so each of these is only one part of the id, as in "request:user:42:" and 32
// digits. Without them the id depends on a random secret of this process: it is valid until the
// process exits, other processes cannot compute it, and nothing can be recalled under it.
//
// Credentials are the headers and query keys that distinguish tenants. A rotating
// token is identified by its constant part: a JSON web token by issuer and
// subject, or by its other claims if it has no subject; Copilot's by its id;
// Google's ya29… and Anthropic's sk-ant-oat… by their kind, so that only project,
// organization and account distinguish their tenants. All others are identified
// by their bytes: if such keys rotate, name the session. Tokens are not verified.
// A forged token reaches the session of that name but reads nothing from it, as
// the provider refuses the request.
//
// # Failure
//
// A failure of this package does not stop the agent: the request is sent
// unchanged, and [OnError] is called, or the log is written ([Logger]), at most
// once a minute per cause. With [Strict] the call fails instead, with an error in the
// provider's format that [ErrorOf] reads. A canceled request fails in any case.
//
// If the provider answers that the context is too long, the request is compacted again, to the size
// that the provider reported, and sent again. This is also done for a request that was sent
// unchanged because of a failure. The caller gets the second answer. A stream may report this error
// after its start, so events that only announce an answer are held back until the next event.
// Answers in gzip and deflate are decoded to find such errors and the usage, and passed on
// unchanged (with [Recall], decoded). For other encodings (br, zstd) OnError is called. Requests
// may be in gzip, deflate, or an encoding of [Coding].
//
// The log also holds the warnings of results, for example that the window of a
// model is a guess.
//
// A retry by an SDK causes no second compaction: the same history gives the
// same bytes.
//
// # Observing
//
// With [Observe] requests do not change: bodies are sent byte for byte, and
// events report the view that would have been sent, and its savings.
//
// # Recall
//
// With [Recall] the model gets a tool that reads text removed from its view, and
// the transport answers the calls of that tool, on all four wires, streamed or
// not. An answer that also calls the caller's tools reaches the caller without
// the recall calls. Streams of events are not buffered, and the next answer
// continues the same stream. If the provider answers an inner call with an error,
// the caller gets this error as its answer, or at the end of its stream. In a
// session without a name only references in the view are answered, and numbers of
// messages that the request has, because conversations with the same beginning share
// the session.
package transport
