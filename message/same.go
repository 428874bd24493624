package message

import "unsafe"

// Same reports whether a and b are copies of one message: they share memory, so
// their content need not be compared. If it is false, they may still be equal.
func Same(a, b Message) bool {
	return a.Role == b.Role && a.Protected == b.Protected && a.Unread == b.Unread && a.wire == b.wire && sameString(a.Name, b.Name) &&
		len(a.Parts) == len(b.Parts) && unsafe.SliceData(a.Parts) == unsafe.SliceData(b.Parts)
}
