// Package oracle compares package redact with gitleaks as a library, and
// generates the vendor rules from its data. It is a separate module, so that
// importing compact does not download gitleaks.
//
//go:generate go run ./generate
package oracle
