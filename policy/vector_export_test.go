package policy

// ClipUTF16 is tested against the vectors of the function it comes from.
var ClipUTF16 = clipUTF16
