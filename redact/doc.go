// Package redact removes secrets from text before it is stored, exported or
// logged.
//
// Redacted text has its own type: only a [Redactor] can make a [Text] from
// data, and the archive and the exporters accept nothing else.
//
// # Found secrets
//
// A structural layer reads the text around words such as "password". It finds the values of:
//
//   - assignments at any depth of escaping: password = "…", DB_PASSWORD=…, {"apiKey": "…"},
//     --token …
//   - headers, cookies, addresses with credentials, connection strings
//   - private keys (even truncated ones, or a piece of the middle), JSON web tokens,
//     Kubernetes secrets
//   - command lines, their piped input, and the secrets that they print
//   - columns of tables, calls, and the fields of forms
//   - lines below a prompt, or below a sentence that announces a secret
//
// In a sentence with a name such as "password", a value is found if it can't be a word. A
// filter leaves values unchanged that are types, references, templates, code or words. But
// letters in an order that no word has, and four words in a row, count as a password.
//
// Terminal colors, invisible characters, URL and HTML escapes, and base64 are decoded, and
// the decoded text is searched, too. Tokens with a known form are found anywhere, by the
// shapes in this package and by the rules of gitleaks (vendor_rules.go). No rule matches
// mere randomness: hashes, UUIDs, and the ids of calls and requests stay unchanged.
//
// Every further occurrence of a found value in the same text or document is
// redacted as well: bare, escaped, in a query, or in base64.
//
// The name stays readable, and only the value is replaced: api_key=<REDACTED>.
//
// Additional rules ([Rule], whose samples are tested before use), detectors
// ([Detector]), or plain patterns ([Options]) find your own kinds of secrets.
//
// # JSON
//
// [Redactor.JSON] decodes strings before the search, follows JSON inside
// strings, and replaces only the bytes of a secret. Everything else (white
// space, key order, escapes and numbers) stays unchanged, and valid JSON stays
// valid. [Redactor.Text] does the same with text that is JSON as a whole.
//
// # Guarantees
//
// Redaction is idempotent. A placeholder is recognized by an exact parse, and
// the text beside it is searched like any other. The time is linear in the
// length of any text: if a text is crafted to be searched again and again, the
// rest of it is treated as a secret (rule "unscanned").
//
// # Limits
//
// A secret without any sign of being one, such as a password in plain prose or a
// bare random string, is not found. Redaction makes leaks rare, not impossible.
//
// # Words in the comments
//
//   - hit: an occurrence of a fixed text that every text is scanned for, such as "password" or "ghp_"
//   - name: the text that says what a value is, such as DB_PASSWORD
//   - telling: a name after which any value that is not a word is a secret, such as API_KEY
package redact
