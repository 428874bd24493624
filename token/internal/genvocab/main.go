// Command genvocab packs the vocabularies that token/internal/bpe embeds. It
// reads the .tiktoken files of github.com/pkoukk/tiktoken-go-loader and writes
// one file for each encoding into the folder given by -out:
//
//	go run ./token/internal/genvocab
//
// A packed vocabulary is the 256 single bytes in the order of their ranks, and
// then for every further rank the two ranks that byte-pair encoding joins last
// when it makes this token: 20 bits each, 5 bytes together, the left in the
// low bits. Bytes and lengths of the tokens follow from that. The file ends
// with 3 zero bytes, so that the last entry can be read as 8 bytes.
package main

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

func main() {
	out := flag.String("out", "token/internal/bpe", "folder to write to")
	flag.Parse()
	for _, name := range []string{"cl100k_base", "o200k_base"} {
		if err := generate(name, *out); err != nil {
			fmt.Fprintf(os.Stderr, "genvocab: %s: %v\n", name, err)
			os.Exit(1)
		}
	}
}

func generate(name, out string) error {
	source, err := assets.Assets.ReadFile(name + ".tiktoken")
	if err != nil {
		return err
	}
	tokens, err := parse(string(source))
	if err != nil {
		return err
	}
	packed, err := pack(tokens)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+".bin"), packed, 0o644)
}

// parse returns the tokens in the order of their ranks, which must be 0, 1, 2, …
func parse(source string) ([]string, error) {
	var tokens []string
	for line := range strings.Lines(source) {
		text, rank, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		if r, err := strconv.Atoi(rank); err != nil || r != len(tokens) {
			return nil, fmt.Errorf("rank %s where %d was due", rank, len(tokens))
		}
		tokens = append(tokens, string(b))
	}
	return tokens, nil
}

func pack(tokens []string) ([]byte, error) {
	ranks := make(map[string]int, len(tokens))
	for rank, t := range tokens {
		ranks[t] = rank
	}
	var out bytes.Buffer
	for rank, t := range tokens {
		if (len(t) == 1) != (rank < 256) {
			return nil, fmt.Errorf("token %d is %q: the first 256 are the single bytes", rank, t)
		}
		if rank < 256 {
			out.WriteByte(t[0])
			continue
		}
		left, right, err := lastMerge(t, ranks)
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", rank, err)
		}
		both := uint64(left) | uint64(right)<<20
		for i := range 5 {
			out.WriteByte(byte(both >> (8 * i)))
		}
	}
	out.Write(make([]byte, 3))
	return out.Bytes(), nil
}

// lastMerge runs byte-pair encoding on the bytes of a token until two parts
// are left.
func lastMerge(t string, ranks map[string]int) (left, right int, err error) {
	parts := make([]string, 0, len(t))
	for i := range len(t) {
		parts = append(parts, t[i:i+1])
	}
	for len(parts) > 2 {
		best, at := len(ranks), -1
		for i := range len(parts) - 1 {
			if r, ok := ranks[parts[i]+parts[i+1]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 || best >= ranks[t] {
			return 0, 0, fmt.Errorf("%q can't be made by merging", t)
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	return ranks[parts[0]], ranks[parts[1]], nil
}
