package ariadne

import (
	"time"

	"github.com/agentcompact/compact/internal/jsonscan"
)

func appendMember(dst []byte, key, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return jsonscan.AppendQuote(dst, value)
}

// appendOptional appends nothing for an empty value: the server rejects null.
func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendMember(dst, key, value)
}

// appendStamp appends milliseconds since 1970 in the only form that the server
// accepts.
func appendStamp(dst []byte, key string, ms int64) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':', '"')
	dst = time.UnixMilli(ms).UTC().AppendFormat(dst, stampFormat)
	return append(dst, '"')
}

const stampFormat = "2006-01-02T15:04:05.000Z"

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(stampFormat) }
