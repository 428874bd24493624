// Package transport is the hook that works under every SDK: an
// [http.RoundTripper] that compacts the requests of model calls on their way
// out. What the agent holds is not touched; the full history comes back at the
// next call, and gives the same view again.
//
//	m, err := compact.New(ctx, compact.Config{Model: "gpt-4o"})
//	client := &http.Client{Transport: transport.New(m)}
//
// # SDKs
//
// What takes an [http.Client] takes the transport. openai-go and
// anthropic-sdk-go also take a [Middleware], which is the better place where
// something behind it signs the request (Bedrock, Vertex): register it before
// the provider's own option.
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
// # What is compacted
//
// POST requests with a JSON body to …/chat/completions, …/responses,
// …/messages, …:generateContent and …:streamGenerateContent, whatever stands
// before that. Bodies in gzip and deflate are read, and compressed no more where
// they were changed. All else goes out untouched: other paths and methods, bodies
// in other encodings, signed or above [MaxBody], and requests whose history
// the provider holds or compacts itself (previous_response_id, conversation,
// context_management, …). Of model calls that is said once a conversation, or
// as nearly as that can be told of what is not read. The field meta of a
// message protects it ({"protected": true}), and never goes out.
//
// Gemini's cachedContent is a fixed cost, and the rest is compacted. How large
// it is, the first answer says.
//
// # Sessions
//
// A session is named by [WithSession], else by the header X-Compact-Session,
// else by what the request says of its session: a member of metadata or
// client_metadata (session_id, conversation_id, thread_id, chat_id), the
// session in Claude Code's metadata.user_id, the headers
// X-Claude-Code-Session-Id and X-Codex-Turn-Metadata, X-Session-Affinity
// (OpenCode) and session_id (pi). The id is then
// "request:", the field and the name, as in "request:metadata.thread_id:42".
// Sub-agents that say who they are (X-Claude-Code-Agent-Id, X-Parent-Session-Id,
// agent_name of Codex) are agents of that session. Others, and titles, may share
// such a name: conversations in it, told apart by the user's first message and the
// first answer, have compactions of their own. Whoever recalls under it reads what
// all of them left. testdata/agents has what agents were seen to send.
//
// A request in which Claude Code, Codex, Gemini CLI, OpenCode or pi has its own
// history summarized goes out whole, and [OnError] is told of it as of what is
// passed over. It is known by how its instructions or its last message begin. The
// history that begins with the summary is another branch of the session.
//
// A request that names none is known by its host, its credentials, the user's
// first message and the first answer. The system prompt does not count: it may
// hold a clock. Host, credentials and first message make the session, the
// answer a branch of it; until there is an answer there is nothing that could be
// compacted. An agent that calls tools before any user spoke is known by its own
// first words instead. Conversations that begin alike share nothing but edits to
// what they have in common, word for word.
//
// prompt_cache_key and user (of Gemini CLI: where it is installed) are shared by conversations: they stand in the id
// beside the rest, as in "request:user:42:" and 32 digits. Without them the id
// is made with a secret of this process. It ends with the process, no other
// process can arrive at it, and nothing can be recalled under it.
//
// Credentials are the headers and query keys that tell tenants apart. A token
// that rotates is known by what stays: a JSON web token by issuer and subject,
// or by its other claims where it has no subject; Copilot's by its id;
// Google's ya29… and Anthropic's sk-ant-oat… by their kind, so that there
// project, organization and account tell tenants apart, and nothing else does.
// All others are known by their bytes: where such keys rotate, name the session.
// Tokens are not verified. Who forges one reaches a session of that name, gets
// nothing out of it, and is refused by the provider.
//
// # Failure
//
// What goes wrong here does not stop the agent: the request goes out as it
// came in, and [OnError] is told, or the log ([Logger]), once a minute a cause.
// With [Strict] the call fails instead: the answer is an error in the
// provider's own form, which [ErrorOf] reads. A request that was canceled fails
// either way.
//
// A provider that says that the context is too long is believed: the request
// is compacted once more, to what the provider said fits, and sent once more,
// also where it went out as it came in because something went wrong. What comes
// back then is the caller's. A stream can say so after it has begun: events that
// only announce an answer are held back until the next one. Answers in gzip and
// deflate are read for that and for their usage, and handed on as they came;
// that others can't be read (br, zstd) is said. Requests in gzip and deflate are read,
// too, and in what [Coding] names.
//
// Logs: what results warn of, too, as that the window of a model is a guess.
//
// A request that an SDK sends again costs no second compaction: the same
// history gives the same bytes.
//
// # Observing
//
// With [Observe] nothing is changed: bodies go out byte for byte as they came,
// and events say what would have been sent and saved.
//
// # Recall
//
// With [Recall] the model is given the tool with which it reads again what was
// taken out of its view, and its calls are answered here, on all four wires,
// streamed or not. An answer with calls of the caller's beside it reaches the
// caller without ours. Streams of events flow, and go on with the next answer. A
// provider's error in answer to an inner call is the caller's answer, or the end
// of its stream. In a session that nobody named only references that the view
// shows are answered, as conversations that begin alike share it.
package transport
