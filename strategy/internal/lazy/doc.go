// Package lazy compiles a regular expression when it is first used, so that a program with
// many of them starts fast.
package lazy
