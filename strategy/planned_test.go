package strategy

import "testing"

// A line of a model with a status decides an item of the plan, whatever other lines with a status
// come after it.
func TestALineWithAStatusDecidesAnItem(t *testing.T) {
	d := Document{Sections: [][]string{{"Move the orders table to the new schema."}, {"[done] move the orders table to the schema", "[open] rename the loader", "no status here"}}}
	for text, want := range map[string]bool{
		"Move the orders table to the new schema": true,
		"Rename the loader of the rows":           true,  // two of three words
		"Rename the importer of the lines":        false, // one of three
		"Write the release notes":                 false,
	} {
		if got := d.decides(item{Text: text}); got != want {
			t.Errorf("%q: decides returns %v, want the opposite", text, got)
		}
	}
}

// Queries that change data are recognized, because a second run would change the data again.
func TestQueriesThatChangeDataAreRecognized(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        bool
	}{
		{"query", "mutation { createIssue(title: \"a\") { id } }", true}, {"document", " mutation Close($id: ID!) { close(id: $id) { id } }", true}, {"mutation", "mutation{ a }", true},
		{"query", "mutations of the gene", false}, {"query", "query { issues { id } }", false}, {"text", "mutation { a }", false},
		{"query", "  insert into orders values (1)", true}, {"sql", "UPDATE orders SET paid = true", true}, {"statement", "drop table orders ", true}, {"sql", "select * from orders", false}, {"text", "delete from orders", false},
	} {
		if got := (&Call{Tool: "run", Args: []Arg{{"limit", "5"}, {c.name, c.value}}}).mutates(); got != c.want {
			t.Errorf("%s %q: mutates returns %v, want the opposite", c.name, c.value, got)
		}
	}
}
