// Package s3 holds tests of storage/s3 and storage/spool that need what would
// be too heavy for the project: an S3 in process, and a network that fails on
// purpose. It is a module of its own.
package s3
