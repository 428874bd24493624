// Package configs holds the configuration files that people copy, one a
// preset, and loads files like them.
//
// # Order
//
// What a program says ([Override]) stands over the environment, the environment
// over the overrides of the files, those over the file, the file over the files
// that it extends, and these over the preset. The preset is the one that the
// highest of them names, "graduated" if none does. What a file locks stands over
// all of them.
//
// # One file for many teams
//
// These keys stand at the top of a file and are no settings:
//
//	extends: ../company.yaml         # below which file this one stands, seen from its folder
//	locked: [redaction, storage]     # settings and sections that stay as they are in this file
//	overrides:                       # settings for the calls of some models or agents
//	  - {model: "claude-*", agent: reviewer, policy: {trigger_pct: 0.7}}
//
// A list replaces the list of the base; overrides are added to those of the
// base, and where several are for a call the last one wins. What a file locks
// can only be made stricter by the files that extend it, the environment and the
// program: redaction switched on, another pattern, a longer retention. Anything
// else is an error, which names who tried and which file locks it.
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
// # Stages and strategies of the program
//
// [Stages] and [Strategy] hand them to Load; the file then names them in policy.stages and
// policy.strategy.
//
// # Stores and exporters of others
//
// A package that a program imports adds its own with [Register], from an init. A store
// has the section storage.NAME and is chosen by storage.adapter: NAME; an exporter has
// trace.NAME. Their settings are read, checked, locked, and shown as all others, each has
// its variable, COMPACT_STORAGE_NAME_SETTING, and their secrets have nothing else.
// Overrides for some calls do not reach them. examples/store/quota and
// examples/exporter/pager are such packages.
//
// For compactctl that is one file more beside its main.go, and a go build:
//
//	package main
//
//	import _ "example.com/agents/quota"
//
// # Mistakes
//
// All mistakes of a configuration are reported at once, each as an [*Error]
// with the place it was made in, in the words of compact.New. Nothing is
// corrected, guessed or ignored: unknown keys, keys that are given twice, and
// values of the wrong type are errors.
//
// # Secrets
//
// A configuration holds none. The key of a summarizer comes from the
// environment, OPENAI_API_KEY, the key of pseudonyms too, COMPACT_PSEUDONYM_KEY,
// and so do the headers that a collector wants, OTEL_EXPORTER_OTLP_HEADERS.
package configs
