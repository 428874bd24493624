package token

import (
	"encoding/binary"
	"strings"
)

// headerBytes is the number of bytes of an image that are decoded to find its
// size. In a JPEG the size follows the metadata, which may hold a large preview.
const headerBytes = 96 << 10

// dataURLSize reads the size in pixels from the header of an image in a base64
// data URL: PNG, GIF, JPEG or WebP. It returns zeros for anything else.
func dataURLSize(url string) (width, height int) {
	meta, data, ok := strings.Cut(url, ",")
	if !ok || !strings.HasPrefix(meta, "data:") || !strings.HasSuffix(meta, ";base64") {
		return 0, 0
	}
	data = data[:min(len(data), headerBytes/3*4)]
	head, _ := decodeBase64(data) // the bytes decoded before an error are enough
	return pictureSize(head)
}

func pictureSize(b []byte) (width, height int) {
	s := string(b[:min(len(b), 16)])
	switch {
	case strings.HasPrefix(s, "\x89PNG\r\n\x1a\n") && len(b) >= 24:
		return int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	case strings.HasPrefix(s, "GIF8") && len(b) >= 10:
		return int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
	case strings.HasPrefix(s, "\xff\xd8"):
		return jpegSize(b)
	case len(b) >= 30 && strings.HasPrefix(s, "RIFF") && s[8:12] == "WEBP":
		return webpSize(b)
	}
	return 0, 0
}

// jpegSize walks the segments to the frame header.
func jpegSize(b []byte) (width, height int) {
	for i := 2; i+9 <= len(b) && b[i] == 0xFF; {
		marker := b[i+1]
		switch {
		case marker == 0xFF: // a fill byte
			i++
			continue
		case marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			return int(binary.BigEndian.Uint16(b[i+7:])), int(binary.BigEndian.Uint16(b[i+5:]))
		}
		i += 2 + int(binary.BigEndian.Uint16(b[i+2:]))
	}
	return 0, 0
}

func webpSize(b []byte) (width, height int) {
	switch string(b[12:16]) {
	case "VP8 ":
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3FFF, int(binary.LittleEndian.Uint16(b[28:])) & 0x3FFF
	case "VP8L":
		v := binary.LittleEndian.Uint32(b[21:])
		return int(v&0x3FFF) + 1, int(v>>14&0x3FFF) + 1
	case "VP8X":
		three := func(at int) int { return int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16 }
		return three(24) + 1, three(27) + 1
	}
	return 0, 0
}
