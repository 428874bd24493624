// Package shell reads command lines as agents write them: it splits a line into simple
// commands and words, and separates a script from its here-documents.
//
// It knows the form of commands, and only as much of programs as is needed to find the
// words that matter: wrappers such as sudo, options before a subcommand, and the options of
// a runner of scripts. It is no parser of a shell: text that it does not recognize stays
// unchanged.
package shell
