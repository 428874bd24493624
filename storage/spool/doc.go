// Package spool puts a disk in front of an archive that is far away: what is
// written is durable on the disk first, and goes to the remote archive in the
// background, in its order, again and again until it is there.
//
// # What decides
//
// The disk decides. While a session is on it, the disk holds all that was
// written there, and a step is committed when the disk says so; the remote
// archive may be away for as long as it wants, and gets a copy. Any number of
// processes may share one folder. A session is written on one machine at a
// time: it can move to another when all of it was sent ([Spool.Flush]), for then
// the other one copies its logs first. When two machines write to one session
// all the same, the remote archive keeps what came first; the other one finds
// that out when it sends, stops there, keeps its own on the disk, and says
// [ErrConflict] from then on. Nothing is overwritten and nothing is lost, but
// somebody has to choose. Where several machines share sessions at the same
// time, use the remote archive without a spool.
//
// # What is where
//
//	DIR/archive         an archive like that of package storage/fs: can be read, verified and exported as one
//	DIR/state/SESSION   queue: what is to be sent, a line an operation; sent: how much of it was;
//	                    origin: what the remote archive had before; conflict: why nothing is sent any more
//	DIR/remote          which archive the folder belongs to
//	DIR/locks           against other processes
//
// A line of the queue is durable before what it speaks of, so that nothing on the
// disk can be forgotten. Sending is repeated safely: what is there already is
// compared and not written again. Only the operations of one session wait for
// each other: one that the remote archive refuses, for an Object Lock say, is
// tried again by itself, later each time, and holds up no other. What all sessions share, such as the log of
// tombstones, goes straight to the remote archive.
//
// A session that was sent, and not written to for [Options.Keep], is removed
// from the disk.
package spool
