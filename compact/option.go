package compact

import (
	"encoding/json"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// An Option says more about one call.
type Option func(*request)

// request is what one call asks for.
type request struct {
	epochKey
	agent  string
	branch string
	tools  json.RawMessage
	fixed  int // tokens beside them
	bytes  int // that the body may have; 0 = nobody says
	wire   wire.Request
	manual bool

	waits    bool // an observed call waits for its outcome
	unnamed  bool // the session's id is made up
	answered bool // the recall tool is answered, declared or not
	dry      bool
	note     string
	pins     func(message.Message) bool
	last     *LastRequest // nil = the requests do not go through a transport
}

// WithModel names the model of this call, where it is not the configured one.
// Another model is a new epoch: other tokenizer, other window.
func WithModel(name string) Option { return func(r *request) { r.model = name } }

// WithWindow says what the model's window is, in tokens, where that is known
// better than by the model's name: from a provider's answer, say. It can only
// make the window smaller. 0 says nothing.
func WithWindow(tokens int) Option { return func(r *request) { r.window = tokens } }

// WithMaxBytes says how large the body of this request may be, in bytes, where that is
// known better than by its provider: from an answer, say. It can only make it
// smaller. 0 says nothing. See [Config.MaxRequestBytes].
func WithMaxBytes(bytes int) Option { return func(r *request) { r.bytes = max(bytes, 0) } }

// WithMaxOutput says how many tokens the answer to this request may have. That
// much of the window is kept free, if it is more than max_output_tokens, up to
// half of the window; less, down to 1,024 tokens, before the call is refused,
// which Result.Warnings says. 0 says nothing.
func WithMaxOutput(tokens int) Option { return func(r *request) { r.output = tokens } }

// WithAgent names the agent, where several share a session id with histories
// of their own. What one agent's compactions did is never applied to another.
func WithAgent(name string) Option { return func(r *request) { r.agent = name } }

// WithBranch names the branch of the agent's history, where its framework
// keeps several at once (sub-agents of one name, say). Each has compactions of
// its own, as each agent has.
func WithBranch(name string) Option { return func(r *request) { r.branch = name } }

// WithTools gives the tool schemas that are sent along, as the JSON array of
// the request. They are counted, and never changed.
func WithTools(schemas json.RawMessage) Option { return func(r *request) { r.tools = schemas } }

// WithFixed says how many tokens of the request are in no message and in no
// tool schema: what the provider has in a cache that the request names, say.
// They are counted as overhead. Negative numbers say nothing.
func WithFixed(tokens int) Option { return func(r *request) { r.fixed = max(tokens, 0) } }

// WithProtected protects the messages for which f is true, in addition to
// those that are marked.
func WithProtected(f func(message.Message) bool) Option { return func(r *request) { r.pins = f } }

// WithRequest says which request the history is of; the history must be its
// Messages. Model, tool schemas and length of the answer are taken from it,
// unless another option gives them. The view is held against the rules of the
// provider: edits that would break one that the request itself does not break
// are not made, so that what [wire.Request.Write] makes of the result's
// Messages and Sources is not refused for what was done here.
func WithRequest(req wire.Request) Option { return func(r *request) { r.wire = req } }

// complete takes from the request what no option said.
func (r *request) complete() {
	if r.wire == nil {
		return
	}
	about := r.wire.About()
	if r.model == "" {
		r.model = about.Model
	}
	if r.tools == nil {
		r.tools = about.Tools
	}
	if r.output == 0 {
		r.output = about.MaxOutput
	}
}
