// Package redact removes secrets from text before it is stored, exported or
// logged.
//
// What has been redacted is a type: [Text] can only be made by a [Redactor],
// and the archive and the exporters take nothing else.
//
// # What is found
//
// A structural layer reads what stands around telling words: assignments
// (password = "…", DB_PASSWORD=…, {"apiKey": "…"}, --token …), at any depth of
// escaping; headers, cookies, addresses with credentials, connection strings,
// private keys also where they are cut off or only the middle is left, JSON web
// tokens, Kubernetes secrets, command lines and what is piped into them,
// columns of tables, calls and the fields of forms. A filter on the
// value leaves alone what is a type, a reference, a template, code or a word;
// letters that no word has, and four words in a row, are a password. Colors of
// a terminal, characters that nobody sees, the escapes of addresses and HTML,
// and base64 are undone before one looks again. Tokens with a form of their own are
// found wherever they stand, by the shapes in this package and by the rules of
// gitleaks (vendor_rules.go). There is no rule on mere randomness: hashes,
// UUIDs, and the ids of calls and requests survive.
//
// A value that was found once is then looked for everywhere else in the same
// text or document: bare, escaped, in a query, in base64.
//
// The name stays readable and the value goes: api_key=<REDACTED>.
//
// Secrets that only you have are found by rules of your own ([Rule], whose samples
// are tested before it is used), by detectors ([Detector]), or by plain patterns
// ([Options]).
//
// # JSON
//
// [Redactor.JSON] decodes strings before it looks, follows JSON inside of them,
// and replaces only the bytes of a secret. Everything else, white space, key
// order, escapes and numbers, stays as it was, and valid JSON stays valid.
// [Redactor.Text] does the same with text that is JSON as a whole.
//
// # What always holds
//
// Redacting again changes nothing. A placeholder is recognized by an exact
// parse, and what stands beside one is judged like anything else. The time a
// text takes is linear in its length, whatever is in it: a text made to be read
// over and over is taken for a secret from there on (rule "unscanned").
//
// # What it cannot do
//
// A secret that nothing gives away, such as a password in plain prose or a
// random string of its own, stays. Redaction makes leaks rare, not impossible.
package redact
