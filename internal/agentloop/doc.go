// Package agentloop runs agents of any SDK against a scripted model through the
// transport, for tests: turns of many steps with parallel calls and large
// results, two agents at once, a restart, another model, a branch, and a model
// that recalls. [Figures] describes a run.
package agentloop
