package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// maxUnzipped limits the size of a decompressed file, in bytes.
const maxUnzipped = 1 << 30

// unzipped returns the content of a gzipped file, and any other file unchanged.
func unzipped(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		return data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(z, maxUnzipped+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("can't be decompressed: %w", err)
	case len(plain) > maxUnzipped:
		return nil, fmt.Errorf("has more than %d bytes after decompression", maxUnzipped)
	}
	return plain, nil
}
