package compact

import "github.com/agentcompact/compact/trace"

// A Refusal is a provider's response that a request is too long.
type Refusal struct {
	Limit   int  // maximum number of tokens that the provider names; 0 = none
	Prompt  int  // tokens of the prompt by the provider's count; 0 = not reported
	Window  int  // window in tokens, by our count, for later requests; 0 = no smaller request is possible
	Retried bool // a smaller request was sent
}

// Refused emits an event that the provider refused the request made from res. It
// changes nothing else; to make a smaller request, call Preflight with
// [WithWindow]. It may be called from several goroutines. It ignores a res that
// is not the result of a call.
func (m *CompactManager) Refused(res *Result, r Refusal) {
	var err error // logged by rescue
	defer m.rescue("Refused", &err)
	if res == nil || res.observe.later == nil {
		return
	}
	res.observe.later(trace.Refused{
		SessionID: res.Session, Agent: res.Agent, Model: res.Model, Estimated: res.After.Total,
		Measured: max(r.Prompt, 0), Limit: max(r.Limit, 0), Window: max(r.Window, 0), Retried: r.Retried,
	})
}
