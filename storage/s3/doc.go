// Package s3 is an archive in a bucket of S3, or of a server that speaks its
// protocol. No other package links the AWS SDK.
//
// # Layout
//
// A file is the object {prefix}/{key}, created with If-None-Match so that nothing is
// ever overwritten. A log is a sequence of numbered segments, {prefix}/{key}!{offset},
// each created in the same way: of any number of writers that append at the same time,
// one gets the name. A reader of the log gets its segments one after another. A roll-up,
// {prefix}/{key}!{offset}-{end}, repeats a run of 8, 64 or 512 segments, so that one
// request reads them all; the segments remain authoritative. Objects whose names begin
// with .try/ were left by [Archive.Try].
//
// # Credentials
//
// Credentials come only from the default chain of the SDK: environment,
// profile, web identity, container, instance. [Config] has no field for a key.
//
// # Trust
//
// A server can answer 200 and ignore a part of the request. [Archive.Try] writes
// a small object, tries to break each promise, reads the server's report about
// the object, and fails closed: create-once, encryption and Object Lock are in
// force, or nothing is written. Each write checks its answer again.
//
// # Failure
//
// Transient errors (a reset, a timeout, 429, 5xx) are retried until [Config.Timeout].
// If an answer was lost, the writer's mark in the metadata of every object
// distinguishes its own object from the object of another writer.
package s3
