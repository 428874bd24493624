// Package setting has the words that mistakes in a configuration are told in,
// for all who find some: what a value looks like, and which name was meant.
package setting
