// Package tiktoken brings the encodings that package token does not count
// itself, those of the models before gpt-3.5-turbo, from
// github.com/pkoukk/tiktoken-go with its vocabularies linked in: p50k_base,
// p50k_edit, r50k_base and gpt2. Importing it makes them known to
// token.ForEncoding and token.ForModel:
//
//	import _ "github.com/agentcompact/compact/token/tiktoken"
//
// It is a package of its own because it adds about 7 MB to a program.
package tiktoken

import (
	"sync"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/agentcompact/compact/token"
)

// names maps what an encoding is called to what tiktoken-go calls it. The
// vocabulary and the pattern of gpt2 are those of r50k_base.
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

// offline makes tiktoken-go read its vocabularies from the program. The
// setting is one for the whole process; without it they would be downloaded.
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

// Count implements token.Counter. The time for one long piece grows with its
// square.
func (c counter) Count(text string) int { return len(c.enc.EncodeOrdinary(text)) }
