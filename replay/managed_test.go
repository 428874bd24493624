package replay

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
)

// A replay changes the settings that belong to its environment, and no others: above all, it
// sends nothing and stores nothing outside of memory. Prices of the configuration stay.
func TestAReplayChangesOnlyTheEnvironmentOfAConfiguration(t *testing.T) {
	c, err := compact.Preset("economy")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.ArchiveKey, c.Exporters = "other", 5, compact.Secret("11"), []trace.Exporter{metrics.New(nil).Exporter()}
	c.Storage.Path, c.Trace.OTLPEndpoint, c.Tidy.Wait, c.HeadsKey = "x", "http://h", time.Second, compact.Secret("k")
	card, _ := price.For("claude-sonnet-4-5")
	now := func() time.Time { return beginning }
	got := managed{"p", c}.in(Env{Model: "gpt-4o", Window: 900, Card: card, Now: now})
	if got.Model != "gpt-4o" || got.MaxContextTokens != 900 || got.Archive == nil || got.OpenArchive != nil || got.Exporters != nil || got.Trace != (compact.TraceConfig{}) ||
		!bytes.Equal(got.ArchiveKey, archiveKey) || got.Now == nil || !got.Now().Equal(beginning) || got.Prices != compact.PricesOf(card) || got.Tidy.Wait != time.Hour {
		t.Errorf("%+v", got)
	}
	got.Tidy.Wait = c.Tidy.Wait
	changed := []string{"Model", "MaxContextTokens", "Archive", "OpenArchive", "Exporters", "Trace", "ArchiveKey", "Now", "Prices"}
	for i, was := 0, reflect.ValueOf(c); i < was.NumField(); i++ {
		if f := was.Type().Field(i); f.IsExported() && !slices.Contains(changed, f.Name) && !reflect.DeepEqual(was.Field(i).Interface(), reflect.ValueOf(got).Field(i).Interface()) {
			t.Errorf("%s is changed to %v", f.Name, reflect.ValueOf(got).Field(i).Interface())
		}
	}
	c.Prices.Input, c.Counting = 7, "utf16"
	if got := (managed{"p", c}).in(Env{Window: 900, Card: card}); got.Prices != c.Prices || got.MaxContextTokens != 3600 {
		t.Errorf("prices %+v, window %d", got.Prices, got.MaxContextTokens)
	}
}

// A preset that counts in another unit has the same window, converted to that unit. It
// does not compact at a quarter of the size at which the others compact, nor at four
// times that size.
func TestPresetsConvertTheWindowToTheirUnit(t *testing.T) {
	msgs := []message.Message{message.System("You are an agent."), message.User("Go on.")}
	for range 90 {
		msgs = append(msgs, message.Assistant("I go on."), message.User(strings.Repeat("the quick fox ", 70))) // 3.5 letters a token and more
	}
	s := &Session{Name: "words", Messages: msgs}
	for _, name := range []string{"history-reducer", "gateway"} {
		rep := run(t, Options{Policies: []Policy{preset(t, name)}, Windows: []int{12_000}}, s)
		if rep.Err() != nil {
			t.Fatal(rep.Err())
		}
		if got := rep.Rows[0].Largest; got < 4000 || got > 15_000 {
			t.Errorf("under %s the largest prompt has %d tokens, with a window of 12,000", name, got)
		}
	}
}
