// Package rules reads what a sentence of the user demands: whether it sets a rule for the
// work, forbids or permits something, takes back or changes an earlier sentence, or asks.
// It knows the forms of such sentences, in English and, for many of them, in German, French,
// Spanish and Portuguese.
//
// All functions are about the words of one or two sentences. Package strategy knows who said
// them, and when.
package rules
