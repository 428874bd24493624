// Package setting formats values and suggests names in errors about a configuration.
// All packages that check a configuration use it.
package setting
