// Command genvocab packs the vocabularies that token/internal/bpe embeds. It
// reads the .tiktoken files of github.com/pkoukk/tiktoken-go-loader and writes
// one file for each encoding into the folder given by -out:
//
//	go run ./token/internal/genvocab
//
// A packed vocabulary has these parts; numbers are little-endian:
//
//   - two numbers of 4 bytes: the numbers of tokens and of borders;
//   - the 256 single bytes, in the order of their ranks;
//   - for each further rank, the two ranks that byte-pair encoding joins last
//     to make this token, 20 bits each, the left one in the low bits. The bytes
//     and lengths of the tokens follow from them;
//   - the borders, 5 bytes each: the last byte of a character, the first byte
//     of the next one (any ASCII byte stands for all of them), and in 3 bytes
//     the lowest rank of a merge across this border that takes only a part of
//     a character that is not ASCII;
//   - 8 zero bytes, so that each entry can be read as a word.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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

// parse returns the tokens in the order of their ranks, which must be 0, 1, 2 and so on.
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
	var singles, merges []byte
	found := borders{}
	for rank, t := range tokens {
		if (len(t) == 1) != (rank < 256) {
			return nil, fmt.Errorf("token %d is %q: the first 256 are the single bytes", rank, t)
		}
		if rank < 256 {
			singles = append(singles, t[0])
			continue
		}
		left, right, err := lastMerge(t, ranks)
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", rank, err)
		}
		merges = append(merges, little(uint64(left)|uint64(right)<<20, 5)...)
		found.note(tokens[left], tokens[right], rank)
	}
	out := append(little(uint64(len(tokens)), 4), little(uint64(len(found)), 4)...)
	return slices.Concat(out, singles, merges, found.pack(), make([]byte, 8)), nil
}

// little returns the low n bytes of v in little-endian order.
func little(v uint64, n int) []byte {
	return binary.LittleEndian.AppendUint64(nil, v)[:n]
}

// borders maps the two bytes at a border to the lowest rank of a merge across
// the border that takes only a part of a character.
type borders map[[2]byte]int

// note records the merge of left and right.
func (b borders) note(left, right string, rank int) {
	if !utf8.RuneStart(right[0]) || utf8.RuneStart(left[0]) && endsWhole(right) {
		return
	}
	at := [2]byte{class(left[len(left)-1]), class(right[0])}
	if at == [2]byte{} {
		return // between two ASCII characters, which have no parts
	}
	if r, ok := b[at]; !ok || rank < r {
		b[at] = rank
	}
}

func class(c byte) byte {
	if c < utf8.RuneSelf {
		return 0
	}
	return c
}

func (b borders) pack() []byte {
	var out []byte
	for _, at := range slices.SortedFunc(maps.Keys(b), func(x, y [2]byte) int { return bytes.Compare(x[:], y[:]) }) {
		out = append(out, at[0], at[1])
		out = append(out, little(uint64(b[at]), 3)...)
	}
	return out
}

// endsWhole reports whether s ends at the end of a character.
func endsWhole(s string) bool {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return utf8.FullRuneInString(s[i:])
		}
	}
	return false
}

// lastMerge runs byte-pair encoding on the bytes of a token until two parts
// remain.
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
