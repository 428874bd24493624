// Package proof holds the sessions for the published tables of replay, and the
// test that compares the tables with the code. The sessions are generated from a
// seed: they contain no person's words, and are the same on every machine.
//
//	make proof                                     writes the table of generated sessions
//	make proof TRANSCRIPTS=../shared/transcripts   also writes the table of recorded sessions
package proof
