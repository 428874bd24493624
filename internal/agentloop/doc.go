// Package agentloop lets agents of any SDK work against a scripted model behind
// the transport, for tests: turns of many steps with parallel calls and large
// results, two agents at once, a restart, another model, a branch, and a model
// that recalls. [Figures] describes a run.
package agentloop
