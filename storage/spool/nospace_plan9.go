package spool

import "errors"

// errNoSpace matches no error: on this system a full disk can't be distinguished
// from other errors.
var errNoSpace = errors.New("no space")
