package strategy

import "testing"

// A script of SQL whose statement fails changes nothing if it is one transaction; otherwise the
// statements before stay.
func TestScriptOfSQLThatFailsIsNotDone(t *testing.T) {
	run := func(cmd, out string) Input { return long("Run the migration.", command("1", "", cmd, out)...) }
	whole := "BEGIN\nALTER TABLE\nUPDATE 1204\npsql:m/42.sql:4: ERROR:  column \"a\" contains null values"
	tells(t, run("psql shop -f m/42.sql", whole), []string{"`psql shop -f m/42.sql` failed: psql:m/42.sql:4: ERROR: column"}, []string{"[done"})
	tells(t, run("psql shop -f m/42.sql", whole+"\nROLLBACK"), []string{"failed: psql:m/42.sql:4: ERROR: column"}, []string{"[done"})
	tells(t, run("psql shop -f m/42.sql", "CREATE TABLE\nINSERT 0 3\npsql:m/42.sql:3: ERROR:  relation \"b\" does not exist"), []string{"[done in part] ran `psql shop -f m/42.sql`"}, nil)
	tells(t, run("psql shop -f m/42.sql", "BEGIN\nALTER TABLE\nUPDATE 1204\nCOMMIT"), []string{"[done] ran `psql shop -f m/42.sql`"}, nil)
	tells(t, run("psql shop -c 'DROP TABLE a'", "psql: error: connection to server at localhost, port 5433 failed"), []string{"failed: psql: error: connection"}, []string{"[done"})
}
