// Package token counts what text and messages cost a model.
//
// Three things stand here. A [Counter] counts text: exactly, for the models
// whose tokenizer is published ([ForModel], [ForEncoding]), or by a rule of
// thumb ([Bytes4], [Chars], [UTF16]). An [Estimator] prices messages, tool
// schemas and requests the way the chat format does, and remembers the price
// of each message it has seen. A [Calibrator] corrects the estimate for models
// whose tokenizer is not published, from what the provider really billed.
//
// Importing the package costs nothing at start: a vocabulary is unpacked when
// a counter for it is first asked for, once per process.
package token
