package spool

import "syscall"

// errNoSpace means that the disk is full (ERROR_DISK_FULL).
var errNoSpace error = syscall.Errno(112)
