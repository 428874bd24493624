package compact

import (
	"encoding/json"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// An Option configures one call.
type Option func(*request)

// request holds the options of one call.
type request struct {
	epochKey
	agent  string
	branch string
	tools  json.RawMessage
	fixed  int // tokens outside of messages and tools
	bytes  int // limit of the body in bytes; 0 = not set
	wire   wire.Request
	manual bool

	waits    bool // an observed call waits for its outcome
	unnamed  bool // the id is for a session without a name, see UnnamedSession
	answered bool // the recall tool is answered, even if undeclared
	dry      bool
	note     string
	pins     func(message.Message) bool // nil = none, or pinned has its answers
	pinned   []bool                     // by message; nil = no function was given
	last     *LastRequest               // nil = the call does not come from a transport
}

// WithModel names the model of this call, if it is not the configured one.
// Another model begins a new epoch, as its tokenizer and window differ.
func WithModel(name string) Option { return func(r *request) { r.model = name } }

// WithWindow lowers the model's window for this call, in tokens, for example to
// a limit that the provider's answer named. A larger value, and 0, have no
// effect.
func WithWindow(tokens int) Option { return func(r *request) { r.window = tokens } }

// WithMaxBytes lowers the maximum size of this request's body, in bytes, for example
// to a limit that the provider's answer named. A value above the configured limit, and
// 0, have no effect. See [Config.MaxRequestBytes].
func WithMaxBytes(bytes int) Option { return func(r *request) { r.bytes = max(bytes, 0) } }

// WithMaxOutput states the maximum number of tokens of the answer to this request.
// If it exceeds max_output_tokens, that much of the window is kept free, up to
// half of the window. Before a call fails for want of room, the reserve shrinks
// down to 1,024 tokens, with a warning in Result.Warnings. 0 has no effect.
func WithMaxOutput(tokens int) Option { return func(r *request) { r.output = tokens } }

// WithAgent names the agent, if several agents with separate histories share a
// session id. The compactions of one agent are never applied to another.
func WithAgent(name string) Option { return func(r *request) { r.agent = name } }

// WithBranch names the branch of the agent's history, if its framework keeps
// several at once (sub-agents with one name, for example). Each branch has its
// own compactions.
func WithBranch(name string) Option { return func(r *request) { r.branch = name } }

// WithTools passes the tool schemas of the request as a JSON array. They are
// counted and never changed. Text that is not a JSON array is counted too, with
// a warning.
func WithTools(schemas json.RawMessage) Option { return func(r *request) { r.tools = schemas } }

// WithFixed adds tokens of the request that are in no message and no tool
// schema, such as content in a provider cache that the request names. They
// count as overhead. Negative numbers are ignored.
func WithFixed(tokens int) Option { return func(r *request) { r.fixed = max(tokens, 0) } }

// WithProtected protects the messages for which f returns true, in addition to
// marked ones. f is called once for each message, before the call returns.
func WithProtected(f func(message.Message) bool) Option { return func(r *request) { r.pins = f } }

// WithRequest passes the request that the history comes from; the history must be
// its Messages, and the call fails if their numbers differ. Model, tool schemas and
// length of the answer come from it, unless another option sets them. The view is
// checked against the rules of the provider: an edit that breaks a rule which the
// request itself keeps is not applied. So the provider does not refuse the output
// of [wire.Request.Write] because of this call's edits.
func WithRequest(req wire.Request) Option { return func(r *request) { r.wire = req } }

// complete fills the options that no option has set from the request.
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

func (r *request) owner() ledger.Owner { return ledger.Owner{Agent: r.agent, Branch: r.branch} }

// WithLastRequest passes the previous request of the agent. Only
// summarizer.backend agent uses it.
func WithLastRequest(l LastRequest) Option { return func(r *request) { r.last = &l } }

// WithObserve makes this call only observe, as [Config.Observe] does for all
// calls: the result's Messages are the unchanged history, Projected is the result
// without observation, and the error is always nil. The call waits for Projected
// until its context is done, so make it concurrently with the request, not before
// it. It does not affect plans.
func WithObserve() Option { return func(r *request) { r.observe, r.waits = true, true } }

// WithRecall declares that the agent has the recall tool in this call, although
// the request's tools do not list it. The summary then has references, and so do
// the placeholders of the presets graduated and economy; without the tool and this
// option neither has. In a session whose id begins with [UnnamedSession], answer
// the tool with [CompactManager.RecallShown].
func WithRecall() Option { return func(r *request) { r.answered = true } }
