// Package configs holds the configuration files that people copy, one a
// preset, and loads files like them.
//
// # Order
//
// What a program says ([Override]) stands over the environment, the
// environment over the file, the file over the preset. The preset is the one
// that the highest of them names, "graduated" if none does.
//
// # Environment
//
// Every setting has a variable: COMPACT_ and its path in capitals with
// underscores, COMPACT_POLICY_TRIGGER_PCT for policy.trigger_pct. Settings of
// policy may leave out the section, COMPACT_TRIGGER_PCT, and so may
// trace.ariadne_url and trace.otlp_endpoint, COMPACT_ARIADNE_URL and
// COMPACT_OTLP_ENDPOINT. Redaction is switched off by its full path alone. Lists are separated by commas, or written as a JSON array.
// An empty variable is none. A variable that seems to mean a setting, but names
// none, is an error.
//
// # Mistakes
//
// All mistakes of a configuration are reported at once, each as an [*Error]
// with the place it was made in. Nothing is corrected, guessed or ignored:
// unknown keys, keys that are given twice, and values of the wrong type are
// errors.
//
// # Secrets
//
// A configuration holds none. The key of a summariser comes from the
// environment, OPENAI_API_KEY, the key of pseudonyms too, COMPACT_PSEUDONYM_KEY,
// and so do the headers that a collector wants, OTEL_EXPORTER_OTLP_HEADERS.
package configs
