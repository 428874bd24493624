//go:build !plan9

package spool

import "syscall"

// errNoSpace: the disk is full.
var errNoSpace error = syscall.ENOSPC
