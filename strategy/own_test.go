package strategy_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

func ownStrategy() strategy.Strategy {
	return strategy.Strategy{
		Name: "orders", Sections: []strategy.Section{{Title: "Orders"}}, Instructions: "Write what was ordered.",
		Extract: func(*strategy.History) []strategy.Line { return nil },
	}
}

func TestNewRefusesInvalidStrategies(t *testing.T) {
	for want, change := range map[string]func(s *strategy.Strategy){
		"is not a valid name":    func(s *strategy.Strategy) { s.Name = "Two words" },
		"of a built-in strategy": func(s *strategy.Strategy) { s.Name = "brief" },
		"has 0 sections":         func(s *strategy.Strategy) { s.Sections = nil },
		"invalid title":          func(s *strategy.Strategy) { s.Sections[0].Title = "a\nb" },
		"Share":                  func(s *strategy.Strategy) { s.Sections[0].Share = math.NaN() },
		"is in every strategy":   func(s *strategy.Strategy) { s.Sections[0].Title = "Where things stand" },
		"has no Extract":         func(s *strategy.Strategy) { s.Extract = nil },
		"has no Instructions":    func(s *strategy.Strategy) { s.Instructions = " " },
	} {
		s := ownStrategy()
		change(&s)
		var e *strategy.OwnError
		if _, err := strategy.New(s); !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestFailingExtractorIsAnErrorOfTheStage(t *testing.T) {
	for want, f := range map[string]func(*strategy.History) []strategy.Line{
		"a fault":      func(*strategy.History) []strategy.Line { panic("a fault") },
		"of section 1": func(*strategy.History) []strategy.Line { return []strategy.Line{{Section: 1, Text: "x"}} },
		"not a number": func(*strategy.History) []strategy.Line { return []strategy.Line{{Text: "x", Value: math.NaN()}} },
		"20001 lines":  func(*strategy.History) []strategy.Line { return make([]strategy.Line, 20_001) },
	} {
		s := ownStrategy()
		s.Extract = f
		s, err := strategy.New(s)
		if err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				got := recover()
				e, isError := got.(error)
				panicked, isPanic := got.(*policy.PanicError)
				_, isOwn := got.(*strategy.OwnError)
				if !isError || !strings.Contains(e.Error(), want) || isPanic != (want == "a fault") || isOwn == isPanic || isPanic && panicked.Stage != summarize.StageName {
					t.Errorf("got %T %v, want %q", got, got, want)
				}
			}()
			s.Extract(&strategy.History{})
		}()
	}
}
