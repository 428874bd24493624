package rules

import (
	"testing"

	"github.com/agentcompact/compact/internal/behavior"
)

// The functions of texts return what is recorded for the texts of the tests of package strategy.
func TestFunctionsAreAsRecorded(t *testing.T) {
	inputs := behavior.Texts(t, "../../testdata/inputs.txt")
	r := behavior.New(t, "testdata/functions.txt")
	r.Functions(inputs,
		rulesAbroad, idleAbroad, asksAbroad, clausesAbroad, ordersGerman, ordersFrench, ordersPortuguese,
		ordersSpanish, subjunctive,
		Binds, describes, joinsClause, atLine, orders, toldTo, describesDeed, givesReason, TellsToDo, advises,
		forbidsThing, changesHow, OneOff, LastingPart,
		Inquires,
		Instructs, OnlyForbids, leads, ShortTask,
		Negates, ForbidsItem, Demands, verbAndObject,
		changes, Lifted, afterDrop, names, restricts, topics, wordStem, Forbids,
		Objects, Depends, Explains,
		setsPlainly, takesOne, permitsOnce, Completes,
		OwnWords,
		quantitiesIn, rateOf, Revalued, aboutValue, anotherSubject, sumOf, AcceptedFor,
		setsByShape, BindsInFile, rulesByShape, bareClause, shapedClause, stands, ordersMore, shortOnly,
		describesFact,
		setsValue, statesLimit, clauseOfValue,
		Withdraws, takesBack, TurnsBack,
	)
	r.Check()
}
