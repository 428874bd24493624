// Package proof holds the sessions that the published tables of replay are made
// of, and the test that holds the tables against the code. The sessions are
// generated, with a seed: nobody's words are in them, and everybody has the same.
//
//	make proof                                     writes the tables
//	make proof TRANSCRIPTS=../shared/transcripts   and the second one
package proof
