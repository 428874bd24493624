package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestCanceledTaskSetsNoRules(t *testing.T) {
	tells(t, long("Write the exporter. It must write CSV, and you must only touch the folder export.",
		message.Assistant("On it."),
		message.User("Cancel that, we don't need it. Write the importer instead; it must accept XML."),
		message.Assistant("I write the importer."),
		message.User("Drop the importer task. Look at the log viewer: dates must be in UTC.")),
		[]string{"\n- Look at the log viewer: dates must be in UTC. [s7]"}, []string{"\n- It must write CSV"})
	tells(t, long("Write the exporter. Rows must never be dropped.", message.Assistant("On it."), message.User("How long is it?"), message.Assistant("Two files."), message.User("Okay, drop the exporter task. Look at the log viewer.")),
		[]string{"Rows must never be dropped. [s1]; the user then said “Okay, drop the exporter task.” [s7]"}, nil)
	// A customer cancels an order, and not the task.
	tells(t, long("Move my order. You must only use the gift card.", message.Assistant("It can't be moved."), message.User("Cancel that order, please.")), []string{"You must only use the gift card. [s1]"}, nil)
}

// A pasted list of rules stands among the words of the user, and leaves room for other rules.
func TestLongListOfRulesIsNotQuotedTwice(t *testing.T) {
	rules := ""
	for _, what := range []string{"orders", "prices", "clients", "tokens", "jobs", "lists", "errors", "tables", "rows", "answers"} {
		rules += "- The server must never drop " + what + ".\n"
	}
	in := long("Build the service:\n\n"+rules, message.Assistant("On it."), message.User("And don't add dependencies."))
	tells(t, in, []string{"- 10 rules of a list, from “The server must never drop orders.” to “The server must never drop answers.”, stand among the words of the user [s1]", "- And don't add dependencies. [s5]"}, []string{"- The server must never drop prices. [s1]"})
	tells(t, long("Build the service:\n\n"+strings.Join(strings.SplitAfter(rules, "\n")[:4], "")), []string{"- The server must never drop prices. [s1]"}, []string{"rules of a list"})
}
