package spool

import "errors"

// errNoSpace matches no error: this system does not report a full disk.
var errNoSpace = errors.New("no space")
