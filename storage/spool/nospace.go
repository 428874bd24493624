//go:build !plan9 && !windows

package spool

import "syscall"

// errNoSpace means that the disk is full.
var errNoSpace error = syscall.ENOSPC
