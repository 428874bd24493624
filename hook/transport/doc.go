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
// before that. All else goes out untouched: other paths and methods, bodies
// that are compressed, signed or above [MaxBody], and requests whose history
// the provider holds or compacts itself (previous_response_id, conversation,
// context_management, …).
//
// # Sessions
//
// A session is named by [WithSession], else by the header X-Compact-Session,
// else by the request: prompt_cache_key, metadata (session_id,
// conversation_id, thread_id, chat_id), user. What a request names is not
// trusted to be one conversation; each of its conversations, told apart by
// how they begin, has compactions of its own. The session's id is
// then "request:" and the field, as in "request:user:42"; whoever recalls under
// it reads what all of its conversations left.
//
// A request that names nothing gets an id made of its host, credentials, system
// prompt and first user message with a secret of this process. It ends with
// the process, no other process can arrive at it, and nothing can be recalled
// under it. Two conversations that begin alike share it, and in it nothing
// but edits to what they have in common, word for word. Keys that change every
// hour change the id with them: name the session where that matters.
//
// # Failure
//
// What goes wrong here does not stop the agent: the request goes out as it
// came in, and [OnError] is told. With [Strict] the call fails instead. A
// request that was canceled fails either way.
//
// A provider that says that the context is too long is believed: the request
// is compacted once more, to what the provider said fits, and sent once more.
// What comes back then is the caller's. A stream can say so after it has begun:
// events that only announce an answer are held back until the next one.
//
// A request that an SDK sends again costs no second compaction: the same
// history gives the same bytes.
package transport
