package tidy

import "testing"

func TestHoldsErrorRecognizesErrorLines(t *testing.T) {
	for line, want := range map[string]bool{
		"TypeError: undefined is not a function":          true,
		"EOFError: EOF when reading a line":               true,
		"PDOException: could not find driver":             true,
		"ValueError: bad value":                           true,
		"    at FileNotFoundError: gone":                  true,
		"java.io.IOException: closed":                     true,
		"java.io.FileNotFoundException: gone":             true,
		"✗ renders":                                       true,
		"error: it failed":                                true,
		"3 failed":                                        true,
		"a TypeError is thrown where the value is none":   false,
		"0 failed, no errors":                             false,
		"storage/errors.go":                               false,
		"ok  \texample.org/failing\t0.3s":                 false,
		"the exceptional case":                            false,
		"--- PASS: TestErrorsAreTold (error: 0, as ever)": false,
	} {
		if got := holdsError(line); got != want {
			t.Errorf("holdsError(%q) = %v, want %v", line, got, want)
		}
	}
}
