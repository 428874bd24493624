// Package s3 is an archive in a bucket of S3, or of a server that speaks its
// protocol. It is the only package that links the AWS SDK.
//
// # Layout
//
// A file is the object {prefix}/{key}, created with If-None-Match so that
// nothing is ever overwritten. What is appended to, the logs, is numbered
// segments, {prefix}/{key}!{offset}, each created the same way: of any number
// of writers that add to the end at once, one gets the name. Whoever reads the
// log gets its segments one after the other. A run of 8, 64 or 512 segments is repeated
// by a roll-up, {prefix}/{key}!{offset}-{end}, so that it is read with one request; what
// counts are the segments. Names that begin with .try/ are
// what [Archive.Try] leaves.
//
// # Credentials
//
// They come from the default chain of the SDK alone: environment, profile, web
// identity, container, instance. There is no place for a key in [Config].
//
// # Trust
//
// A server can answer 200 and ignore what it was asked for. [Archive.Try]
// writes a small object, tries to break each promise, reads back what the server
// says of it, and fails closed: create-once, encryption and Object Lock are in
// force, or nothing is written. Each write looks again at what came back.
//
// # Failure
//
// What can pass by itself (a reset, a timeout, 429, 5xx) is tried again until
// [Config.Timeout]. When an answer was lost, the writer's mark, which is in the
// metadata of every object, tells its own object from somebody else's.
package s3
