// Package configs holds a configuration file for each preset, for users to copy,
// and loads such files.
//
// # Order
//
// From the highest to the lowest, a setting comes from the program ([Override]), the
// environment, the overrides in the files, the file, the files that it extends, and the
// preset. The preset is the one that the highest of these sources names, or "graduated"
// if no source names one. The locked settings of a file take precedence over all of
// them.
//
// # One file for many teams
//
// These top-level keys of a file are not settings:
//
//	extends: ../company.yaml         # the base of this file, relative to its folder
//	locked: [redaction, storage]     # settings and sections that stay as they are in this file
//	overrides:                       # settings for the calls of some models or agents
//	  - {model: "claude-*", agent: reviewer, policy: {trigger_pct: 0.7}}
//
// A list replaces the list of the base. Overrides are added to the overrides of the
// base; if several apply to a call, the last one wins. The files that extend a file,
// the environment and the program can only make its locked settings stricter: switch
// redaction on, add a pattern, lengthen a retention. Anything else is an error, which
// names its source and the locking file.
//
// # Environment
//
// Every setting has a variable: COMPACT_ and its path in capitals with underscores,
// COMPACT_POLICY_TRIGGER_PCT for policy.trigger_pct. Settings of policy may omit the
// section, COMPACT_TRIGGER_PCT, unless another section has a setting of the same
// name, and so may trace.ariadne_url and trace.otlp_endpoint, COMPACT_ARIADNE_URL
// and COMPACT_OTLP_ENDPOINT. Only the full path switches redaction off. Lists are
// separated by commas, or written as a JSON array. An empty variable counts as
// unset. A variable that looks like a setting but names none is an error; [Unused]
// returns others that have no effect.
//
// # Packages with many dependencies
//
// Four settings need an import for its effect, which registers what they name:
// storage.adapter: s3 needs configs/s3, storage.encrypt configs/age, the OTLP
// endpoints of trace configs/otlp, and summarizer.backend: openai configs/openai.
// configs/all imports all of them. Without the import, the setting is a mistake, and
// its error names the missing package.
//
// # Stages and strategies of the program
//
// [Stages] and [Strategy] pass them to Load; the file then names them in
// policy.stages and policy.strategy.
//
// # Stores and exporters of others
//
// A package that a program imports adds its own components with [Register], from
// an init function. A store has the section storage.NAME and is chosen by
// storage.adapter: NAME; an exporter has trace.NAME. Their settings are read,
// checked, locked and shown like all others. Each has a variable,
// COMPACT_STORAGE_NAME_SETTING; secrets come from variables only. Overrides do
// not apply to them. examples/store/quota and examples/exporter/pager are such
// packages.
//
// For compactctl, add one file beside its main.go and run go build:
//
//	package main
//
//	import _ "example.com/agents/quota"
//
// # Mistakes
//
// All mistakes of a configuration are reported at once, each as an [*Error] with
// its place, in the words of compact.New. Nothing is corrected or guessed: unknown
// keys, duplicate keys and values of the wrong type are errors. Only three options
// of the systems that presets reproduce are ignored, see docs/COMPATIBILITY.md.
//
// # Secrets
//
// A configuration holds no secrets. These come from the environment: the key of a
// summarizer (OPENAI_API_KEY), the key of pseudonyms (COMPACT_PSEUDONYM_KEY), the
// key that signs heads (COMPACT_HEADS_KEY), the identities that decrypt an archive
// (COMPACT_ARCHIVE_IDENTITY or COMPACT_ARCHIVE_IDENTITY_FILE), and the headers for
// a collector (OTEL_EXPORTER_OTLP_HEADERS).
package configs
