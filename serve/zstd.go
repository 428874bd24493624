package serve

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is the largest window in bytes that Content-Encoding permits (RFC
// 9659).
const maxZstdWindow = 8 << 20

// unzstd decompresses a body. Codex compresses its bodies under a ChatGPT login.
func unzstd(packed io.Reader) (io.Reader, error) {
	d, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
