package token

import "strings"

// The built-in encodings.
const (
	CL100K = "cl100k_base" // gpt-4, gpt-3.5-turbo, text-embedding-3
	O200K  = "o200k_base"  // gpt-4o, gpt-4.1, gpt-4.5, gpt-5, o1, o3, o4, gpt-oss
)

// families maps base models to encodings; the first match wins. A name that ends
// in * is a prefix.
var families = []struct{ name, encoding string }{
	{"gpt-5*", O200K},
	{"gpt-4.5*", O200K},
	{"gpt-4.1*", O200K},
	{"gpt-4o*", O200K},
	{"chatgpt-4o", O200K},
	{"chatgpt-4o-*", O200K},
	{"gpt-oss", O200K}, // o200k_harmony: the same text tokens, more special ones
	{"gpt-oss-*", O200K},
	{"o1", O200K},
	{"o1-*", O200K},
	{"o3", O200K},
	{"o3-*", O200K},
	{"o4-mini", O200K},
	{"o4-mini-*", O200K},
	{"codex-mini*", O200K},
	{"computer-use-*", O200K},

	{"gpt-4", CL100K},
	{"gpt-4-*", CL100K},
	{"gpt-3.5", CL100K},
	{"gpt-3.5-turbo", CL100K},
	{"gpt-3.5-turbo-*", CL100K},
	{"gpt-35-turbo", CL100K}, // the spelling of Azure deployments
	{"gpt-35-turbo-*", CL100K},
	{"davinci-002", CL100K},
	{"babbage-002", CL100K},
	{"text-embedding-*", CL100K},

	{"text-davinci-edit-001", "p50k_edit"},
	{"code-davinci-edit-001", "p50k_edit"},
	{"text-davinci-003", "p50k_base"},
	{"text-davinci-002", "p50k_base"},
	{"code-davinci-*", "p50k_base"},
	{"code-cushman-*", "p50k_base"},
	{"davinci-codex", "p50k_base"},
	{"cushman-codex", "p50k_base"},
	{"text-davinci-001", "r50k_base"},
	{"text-curie-001", "r50k_base"},
	{"text-babbage-001", "r50k_base"},
	{"text-ada-001", "r50k_base"},
	{"text-similarity-*", "r50k_base"},
	{"text-search-*", "r50k_base"},
	{"code-search-*", "r50k_base"},
	{"davinci", "r50k_base"},
	{"curie", "r50k_base"},
	{"babbage", "r50k_base"},
	{"ada", "r50k_base"},
	{"gpt2", "gpt2"},
	{"gpt-2", "gpt2"},
}

// EncodingForModel returns the name of the encoding that counts text for a model,
// and whether it is the model's own. It matches names like OpenAI's tiktoken, but
// ignores case and accepts a provider's path (openai/gpt-4o), fine-tunes
// (ft:gpt-4o-mini:org::id) and a variant after a colon (openai/gpt-4o:extended).
//
// For a model whose tokenizer is not published, it returns the closest published
// encoding, and exact is false. cl100k_base is the closest one for Claude (which
// makes more tokens of a text than o200k_base does) and for Qwen and Llama (whose
// vocabularies descend from it), o200k_base for all others. A [Calibrator] learns
// the difference.
func EncodingForModel(model string) (name string, exact bool) {
	base := baseName(model)
	for _, f := range families {
		if beginning, ok := strings.CutSuffix(f.name, "*"); base == f.name || ok && strings.HasPrefix(base, beginning) {
			return f.encoding, true
		}
	}
	for _, near := range []string{"claude", "qwen", "llama"} {
		if strings.Contains(base, near) {
			return CL100K, false
		}
	}
	return O200K, false
}

// baseName returns the name of the base model, without the provider's path, the
// prefix and the owner of a fine-tune, and a variant.
func baseName(model string) string {
	base := strings.ToLower(strings.TrimSpace(model))
	base = base[strings.LastIndexByte(base, '/')+1:]
	base = strings.TrimPrefix(base, "ft:")
	base, _, _ = strings.Cut(base, ":")
	return base
}

// ForModel returns the counter for a model, by the name that [EncodingForModel]
// returns. An unknown model is not an error; it gets the closest published encoding. It
// returns an error of [ForEncoding] only for models from before 2023.
func ForModel(model string) (Counter, error) {
	name, _ := EncodingForModel(model)
	return ForEncoding(name)
}
