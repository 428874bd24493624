// Package setting words the errors about a configuration, for all packages that check
// one: it formats values and suggests names.
package setting
