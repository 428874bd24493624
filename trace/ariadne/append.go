package ariadne

import (
	"bytes"
	"encoding/json"
	"time"
)

func appendMember(dst []byte, key, value string) []byte {
	dst = append(dst, ',', '"')
	dst = append(dst, key...)
	dst = append(dst, '"', ':')
	return appendString(dst, value)
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

// appendString writes a JSON string. Ids and names are nearly always plain
// ASCII, which is copied.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			return append(dst, marshal(s)...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"')
}

// marshal is json.Marshal without HTML escaping, of values that can't fail.
func marshal(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("ariadne: " + err.Error())
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
