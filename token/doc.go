// Package token counts the tokens of texts and messages for a model.
//
// It has three parts. A [Counter] counts text: exactly, for models whose
// tokenizer is published ([ForModel], [ForEncoding]), or by a rule of thumb
// ([Bytes4], [Chars], [UTF16]). An [Estimator] computes the cost of messages,
// tool schemas and requests in the chat format, and caches the cost of each
// message. A [Calibrator] learns from billed token counts to correct the estimate
// for models whose tokenizer is not published.
//
// Importing the package costs no startup time: a vocabulary is unpacked once
// per process, by the first count that needs it.
package token
