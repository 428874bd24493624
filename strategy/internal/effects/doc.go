// Package effects knows the commands that change something outside of the session, so that
// a second run would change it again: a push, a deployment, a request that writes, a
// subcommand such as "create". It also has the verbs in the names of tools that do so.
//
// Changes of files are not effects; see package fileops.
package effects
