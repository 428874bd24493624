package anthropic_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/wire"
)

func TestARequestAndACacheAreSharedByGoroutines(t *testing.T) {
	cache := wire.NewCache(0)
	data := []byte(randomBody(4))
	shared, err := anthropic.Wire.ParseRequest(data, cache)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			r, err := anthropic.Wire.ParseRequest(bytes.Clone(data), cache)
			if err != nil {
				t.Error(err)
				return
			}
			for _, r := range []wire.Request{r, shared} {
				msgs := r.Messages()
				for i := range msgs {
					msgs[i].Fingerprint()
				}
				r.Check(msgs, seq(len(msgs)))
				if out, err := r.Write(msgs, seq(len(msgs))); err != nil || !bytes.Equal(out, data) {
					t.Errorf("error %v, want the same bytes, got %s", err, out)
				}
			}
		})
	}
	all.Wait()
}
