// Package reduce is the engine: it asks the stages of a policy for edits, takes the
// shortest run of them that reaches the goal, and checks what comes out. A
// [Conversation] is a history on its way to a view. A [Recipe] says what was done
// to it, so that a ledger can store it, and a [Trail] does it again.
//
// Package policy has the words that a stage needs, and the stages. What only the
// engine and the ledger say to each other stands here. Like policy it is pure.
package reduce
