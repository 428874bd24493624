package strategy

import "testing"

// A query of a database is quoted with its values, not with the name of the column.
func TestTableOfADatabaseIsQuotedWithItsValues(t *testing.T) {
	ask := func(out string) Input {
		return long("Count the customers.", command("1", "", "psql shop -f q.sql", out)...)
	}
	tells(t, ask(" count \n-------\n  2210\n(1 row)\n"), []string{"which printed: count: 2210"}, nil)
	tells(t, ask("SET\n id |  name  | paid \n----+--------+------\n  1 | Lindt  | t\n  2 | Okafor | \n(2 rows)\n"), []string{"id: 1, name: Lindt, paid: t; id: 2, name: Okafor"}, nil)
	tells(t, ask(" id \n----\n 11\n 12\n 13\n 14\n(4 rows)\n"), []string{"id: 11; id: 12; id: 13 … (4 rows)"}, nil)
	tells(t, ask(" id | name \n----+------\n(0 rows)\n"), nil, []string{"id: "})
}
