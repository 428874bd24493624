// Package tiktoken provides the encodings of models before gpt-3.5-turbo, which
// package token does not build in: p50k_base, p50k_edit, r50k_base and gpt2. It
// uses github.com/pkoukk/tiktoken-go and links the vocabularies into the program.
// Importing it registers the encodings for token.ForEncoding and token.ForModel:
//
//	import _ "github.com/agentcompact/compact/token/tiktoken"
//
// It is a separate package because it adds about 7 MB to a program.
package tiktoken

import (
	"sync"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/agentcompact/compact/token"
)

// names maps the names of encodings to the names in tiktoken-go. gpt2 has the
// vocabulary and the pattern of r50k_base.
var names = map[string]string{
	"p50k_base": tiktoken.MODEL_P50K_BASE,
	"p50k_edit": tiktoken.MODEL_P50K_EDIT,
	"r50k_base": tiktoken.MODEL_R50K_BASE,
	"gpt2":      tiktoken.MODEL_R50K_BASE,
}

func init() {
	for name, theirs := range names {
		token.Register(name, func() (token.Counter, error) { return open(theirs) })
	}
}

// offline makes tiktoken-go read its vocabularies from the program instead of
// downloading them. The setting is global in the process.
var offline = sync.OnceFunc(func() { tiktoken.SetBpeLoader(loader.NewOfflineLoader()) })

func open(name string) (token.Counter, error) {
	offline()
	enc, err := tiktoken.GetEncoding(name)
	if err != nil {
		return nil, err
	}
	return counter{enc}, nil
}

type counter struct{ enc *tiktoken.Tiktoken }

// Count implements token.Counter. The time for one long piece is quadratic in its
// length.
func (c counter) Count(text string) int { return len(c.enc.EncodeOrdinary(text)) }
