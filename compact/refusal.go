package compact

import "github.com/agentcompact/compact/trace"

// A Refusal is a provider's answer that a request is too long.
type Refusal struct {
	Limit   int  // tokens that it says it takes; 0 = it names none
	Prompt  int  // tokens that it counted; 0 = it does not say
	Window  int  // that the next requests are made for, in our count; 0 = there is no smaller one
	Retried bool // a smaller request was sent
}

// Refused tells of the refusal of the request that was made of res, in an event.
// It changes nothing: who makes a smaller request does so with [WithWindow]. It
// may be called from several goroutines; a res that no call was made of is passed
// over.
func (m *CompactManager) Refused(res *Result, r Refusal) {
	var err error // which is in the log
	defer m.rescue("Refused", &err)
	if res == nil || res.observe.later == nil {
		return
	}
	res.observe.later(trace.Refused{
		SessionID: res.Session, Agent: res.Agent, Model: res.Model, Estimated: res.After.Total,
		Measured: max(r.Prompt, 0), Limit: max(r.Limit, 0), Window: max(r.Window, 0), Retried: r.Retried,
	})
}
