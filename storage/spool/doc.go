// Package spool puts a disk in front of a remote archive. A write is durable on the
// disk first. In the background it is sent to the remote archive, in the order of the
// writes, and is retried until it succeeds.
//
// # The disk decides
//
// While a session is on the disk, the disk holds all of its data, and a step is
// committed as soon as it is on the disk. The remote archive gets a copy, and may be
// unreachable for any length of time. Any number of processes may share one folder.
//
// A session is written on one machine at a time. It can move to another machine after
// all of it was sent ([Spool.Flush]), because that machine copies its logs first. If
// two machines write to one session nevertheless, the remote archive keeps the data
// that arrived first. The other machine detects this when it sends. It stops sending,
// keeps its own data on the disk, and returns [ErrConflict] from then on. Nothing is
// overwritten and nothing is lost, but a person has to choose. If several machines
// share sessions at the same time, use the remote archive without a spool.
//
// # Files
//
//	DIR/archive         an archive of package storage/fs: it can be read, verified and exported like any other
//	DIR/state/SESSION   queue: the operations to send, one on each line; sent: the number of bytes of the queue that were sent;
//	                    origin: the files that only the remote archive has; conflict: the reason why sending has stopped
//	DIR/remote          the archive to which the folder belongs
//	DIR/locks           locks between processes
//
// A line of the queue is durable before its data, so that all data on the disk will be
// sent. A repeated send is safe: it compares existing files and does not write them
// again. Only operations of the same session wait for each other. An operation that the
// remote archive refuses, for example because of an Object Lock, is retried with
// growing delays, and delays no other session. Data that all sessions share, such as
// the log of tombstones, goes straight to the remote archive.
//
// A session that was sent, and not written to for [Options.Keep], is removed from the
// disk.
package spool
