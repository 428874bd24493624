// Package oracle compares package redact with gitleaks as a library, and
// generates the vendor rules from its data. It is a module of its own, so that
// nobody who imports compact downloads gitleaks.
//
//go:generate go run ./generate
package oracle
