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

// appendOptional writes nothing for an empty value: the server takes no null.
func appendOptional(dst []byte, key, value string) []byte {
	if value == "" {
		return dst
	}
	return appendMember(dst, key, value)
}

// appendStamp writes milliseconds since 1970 in the only form that the server
// takes.
func appendStamp(dst []byte, key string, ms int64) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':', '"')
	dst = time.UnixMilli(ms).UTC().AppendFormat(dst, stampFormat)
	return append(dst, '"')
}

const stampFormat = "2006-01-02T15:04:05.000Z"

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(stampFormat) }
