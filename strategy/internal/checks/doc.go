// Package checks knows the commands that test, build or lint. It finds the check in a
// command line, the part of the project that a check is about, and the later runs that
// settle a failed one: the same check through another filter, or a wider one.
//
// Package internal/testrun reads the outputs of these commands.
package checks
