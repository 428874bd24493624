package price

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestCardsSurviveAJSONRoundTrip(t *testing.T) {
	for _, name := range Models() {
		c, _ := For(name)
		data, err := json.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		var back Card
		if err := json.Unmarshal(data, &back); err != nil || back != c {
			t.Errorf("%s comes back as %+v, %v", data, back, err)
		}
	}
}

func TestCustomCardSetsThePrices(t *testing.T) {
	var c Card
	err := json.Unmarshal([]byte(`{"input": 2, "cache_read": 0.2, "output": 8, "min_prefix": 1024, "granularity": 128, "lifetime": "10m"}`), &c)
	if err != nil || c.Validate() != nil {
		t.Fatalf("%v, %v", err, c.Validate())
	}
	if c.CacheWrite != 2 || c.CacheWriteHour != 2 || c.Lifetime != 10*time.Minute {
		t.Errorf("the card is %+v", c)
	}
	own := Card{}
	if err := json.Unmarshal([]byte(`{"input": 2, "cache_write": 2.5}`), &own); err != nil || own.CacheWrite != 2.5 || own.CacheWriteHour != 2.5 {
		t.Errorf("%v; without a price of its own, writing for an hour has the price of writing: %+v", err, own)
	}
	for text, want := range map[string]string{
		`{"input": 2, "cached": 1}`:          "cached",
		`{"input": 2, "lifetime": "5 days"}`: "not a duration",
	} {
		if err := json.Unmarshal([]byte(text), &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
