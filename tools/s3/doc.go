// Package s3 holds tests of storage/s3 and storage/spool with dependencies that
// are too large for the project: an S3 server in process, and a network that
// fails on purpose. It is a module of its own.
package s3
