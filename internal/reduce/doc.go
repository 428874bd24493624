// Package reduce is the engine: it asks the stages of a policy for edits, applies the
// shortest run of edits that reaches the goal, and checks the outcome. A [Conversation]
// is a history that edits turn into a view. A [Recipe] describes these edits so that a
// ledger can store them, and a [Trail] repeats them.
//
// Package policy holds the stages and the types that stages need. Package reduce holds
// the types that only the engine and the ledger use. Like policy it is pure.
package reduce
