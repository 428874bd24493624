package compat

// ClipUTF16 is exported for tests against the vectors of the original function.
var ClipUTF16 = clipUTF16
