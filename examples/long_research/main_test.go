package main

import (
	"context"
	"io"
	"testing"
)

func TestFourWindowsOfHistoryFitIntoOne(t *testing.T) {
	o, err := run(context.Background(), io.Discard, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if o.tokens < 3*window || o.compactions < 3 || o.largest > o.budget {
		t.Errorf("%+v", o)
	}
}
