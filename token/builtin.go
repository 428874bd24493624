package token

import (
	"sync"

	tiktoken "github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

var (
	cl100k = sync.OnceValue(func() Counter { return open(CL100K) })
	o200k  = sync.OnceValue(func() Counter { return open(O200K) })
)

func builtin(name string) Counter {
	switch name {
	case CL100K:
		return cl100k()
	case O200K, "o200k_harmony":
		return o200k()
	}
	return nil
}

type reference struct{ enc *tiktoken.Tiktoken }

func (r reference) Count(text string) int { return len(r.enc.EncodeOrdinary(text)) }

func open(name string) Counter {
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	enc, err := tiktoken.GetEncoding(name)
	if err != nil {
		panic(err)
	}
	return reference{enc}
}
