package spool

import "errors"

// errNoSpace cannot be told from other errors here.
var errNoSpace = errors.New("no space")
