package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestRulesOfACanceledTaskSaySo(t *testing.T) {
	tells(t, long("Write the exporter. It must write CSV, and you must only touch the folder export.",
		message.Assistant("On it."),
		message.User("Cancel that, we don't need it. Write the importer instead; it must accept XML."),
		message.Assistant("I write the importer."),
		message.User("Drop the importer task. Look at the log viewer: dates must be in UTC.")),
		[]string{"\n- Look at the log viewer: dates must be in UTC. [s7]", "It must write CSV, and you must only touch the folder export. [s1]; the user then said “Cancel that, we don't need it.” [s5]"}, nil)
	// The user may stop a call: the rules and the new request stay.
	tells(t, long("Write the exporter.", message.Assistant("On it."), message.User("Never touch the schema, and keep the API stable."), message.Assistant("I run all suites now."), message.User("Stop that – use the Existing helper instead.")),
		[]string{"Never touch the schema, and keep the API stable. [s5]; the user then said “Stop that – use the Existing helper instead.” [s7]", "use the Existing helper instead. [s7]"}, nil)
	tells(t, long("Write the exporter. Rows must never be dropped.", message.Assistant("On it."), message.User("How long is it?"), message.Assistant("Two files."), message.User("Okay, drop the exporter task. Look at the log viewer.")),
		[]string{"Rows must never be dropped. [s1]; the user then said “Okay, drop the exporter task.” [s7]"}, nil)
	// Each rule of the task says so.
	tells(t, long("Write the exporter. Rows must never be dropped.\n\nShow me each step of the work.\n\nNever touch the folder schema.", message.Assistant("On it."), message.User("Drop that, we don't need it."), message.Assistant("I stop.")),
		[]string{"Rows must never be dropped. [s1]; the user then said “Drop that, we don't need it.” [s5]", "Never touch the folder schema. [s1]; the user then said “Drop that, we don't need it.” [s5]"}, nil)
	// A customer cancels an order, and not the task.
	tells(t, long("Move my order. You must only use the gift card.", message.Assistant("It can't be moved."), message.User("Cancel that order, please.")), []string{"You must only use the gift card. [s1]"}, nil)
}

// A long list of rules leaves room for other rules, and its rules outlive the message that is cut.
func TestLongListOfRulesGivesWay(t *testing.T) {
	list := ""
	for _, what := range []string{"orders", "prices", "clients", "tokens", "jobs", "lists", "errors", "tables", "rows", "answers"} {
		list += "- The server must never drop " + what + ".\n"
	}
	values := map[string]float64{}
	in := long("Build the service:\n\n"+list, message.Assistant("On it."), message.User("And don't add dependencies."))
	for _, f := range NewHistory(Request{Strategy: TaskState, Messages: in.Messages, First: 1}).constraints() {
		values[f.Text] = f.Value
	}
	if listed, other := values["The server must never drop prices. [s1]"], values["And don't add dependencies. [s5]"]; listed == 0 || listed > other/2 {
		t.Errorf("a rule of the list has the value %v, another rule %v", listed, other)
	}
	next := Input{Previous: write4(t, in), First: 9}
	for i := range 12 {
		next.Messages = append(next.Messages, message.User("Now look at part "+itoa(i)+". "+strings.Repeat("It has a table of "+itoa(i)+" rows and a job that reads it. ", 20)), message.Assistant("Done."))
	}
	tells(t, next, []string{"- The server must never drop prices. [s1]"}, nil)
}
