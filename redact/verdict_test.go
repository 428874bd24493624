package redact

import (
	"strings"
	"testing"
)

// goVerdicts are lines that go test prints for tests that passed, verbatim and as
// other programs show them.
var goVerdicts = []string{
	"--- PASS: TestS3 (0.00s)",
	"    --- PASS: TestX509/sub_case_1 (0.01s)",
	"=== RUN   TestX509\n--- PASS: TestX509 (0.00s)\nPASS\nok  \texample.com/x\t0.004s",
	"=== RUN   TestParse/a1b2#01\n    --- PASS: TestParse/a1b2#01 (0.00s)",
	"--- PASS: TestUserLogin2 (0.00s)\n--- PASS: TestE2E (1.20s)\n--- SKIP: TestEmail3 (0.00s)\n--- PASS: TestUser2 (0.00s)",
	"--- PASS: TestRFC7231Date (0.00s)",
	"--- PASS: TestK8s",
	"--- PASS: FuzzB64X2 (0.31s)",
	"--- PASS: ExampleS3 (0.00s)",
	"--- PASS: BenchmarkE2E (0.00s)",
	"user: please look at this\n--- PASS: TestS3 (0.00s)",
	"--- PASS: TestMD5 (0.00s) [s4]",
	"`go test ./x -run TestS3` passed: --- PASS: TestS3 (0.00s)",
	"\x1b[32m--- PASS: TestI18n (0.00s)\x1b[0m",
	"2025-11-01T10:00:00.1234567Z --- PASS: TestL10n (0.00s)",
	`{"Action":"output","Package":"example.com/x2","Test":"TestS3","Output":"--- PASS: TestS3 (0.00s)\n"}`,
	"PASS: s3_test.go:12: S3Suite.TestPut2\t0.001s",
	"--- PASS: TestAccUser2_basic (3.10s)",
	`go test -v 2>&1 | grep -E "PASS: TestE2E|FAIL"`, `grep 'PASS: TestE2E\|FAIL' log`,
}

// TestVerdictsOfTestsAreLeftAlone has lines of test runners with PASS in the place of a
// password's name.
func TestVerdictsOfTestsAreLeftAlone(t *testing.T) {
	family{clean: goVerdicts}.check(t, newRedactor(t, Options{}))
	family{clean: []string{
		// automake, ctest, prove, bats
		"PASS: s3_v4a.sh\nFAIL: sha2_x1.sh\nXFAIL: md5_x9.sh",
		"PASS: tests/a1b2c3.test",
		"PASS: test/s3_v2.sh 3 - puts two objects",
		"make[2]: PASS: test_v2x3",
		"FAIL: readsE2E\nPASS: parsesX509v3\nPASS: rendersH1B2",
		"ok 1 - test_v2x3 reads s3v4",
		"not ok 2 - TestE2E",
		"1/5 Test #1: s3v4_x2 .......   Passed    0.01 sec",
		"# PASS:  12\n# FAIL: 0",
		// dejagnu, lit
		"PASS: gcc.dg/pr12345.c (test for excess errors)",
		"PASS: g++.dg/cpp0x/v4x2y1.C  -std=c++11  (test for warnings, line 12)",
		"PASS: gdb.base/b2r3k4.exp: set break",
		"PASS: LLVM :: Transforms/p1r2/x3.ll (1 of 5)",
		// pytest, unittest, mocha, jest, QtTest
		"tests/x.py::test_a1b2c3 PASSED [ 12%]",
		"PASSED tests/x.py::test_v2x3",
		"PASS: test_e2e_v2",
		"PASS  src/a1b2/x509v3.spec.js (5.1 s)",
		"PASS: src/utils/x509v3.spec.js:12",
		"PASS   : tst_S3::testV2x3()",
		"    ✓ handles a1b2c3 (3 ms)",
		// texts that people and agents write
		"- PASS: `TestS3`", "**PASS:** TestE2E", "✅ PASS: TestX509", "| PASS | TestS3 |", "pass: TestS3 ok", "Pass: UserServiceV2Test",
		"pass: k7Qz9Lm2x (0.03s)", "pass: k7Qz9Lm2x (3 ms)",
		// lists of tests, stages
		`{"FAIL_TO_PASS": ["TestA1B2c3D4"], "PASS_TO_PASS": ["test_a1B2c3D4x", "tests/a.py::test_q7w8e9r0"]}`,
		`instance PASS_TO_PASS: test_a1B2c3D4x`,
		`{"first_pass": "2025-05-01", "second_pass": 12345}`, `renderPass: "gbuffer3v2"`, "FIRST_PASS=2x3y",
	}}.check(t, newRedactor(t, Options{}))
}

// TestPasswordsNextToVerdictsAreFound has passwords in forms that resemble the output
// of test runners.
func TestPasswordsNextToVerdictsAreFound(t *testing.T) {
	family{secret: samples(
		in("Xk9mQ2vR7pLw", "pass: %s", "PASS: %s", "Pass: %s", "PASS=%s", "--- PASS: %s", "PASS: %s\nFAIL: no route", "- PASS: %s", "| PASS | %s |",
			"smtp:\n  user: bob\n  pass: %s", "PASS: `%s`", "test_pass: %s", `{"pass": "%s"}`, "USER=bob\nPASS=%s", "pass => %s"),
		in("TestS3", "user: admin\npass: %s", "USER: admin\nPASS: %s", "| user | bob |\n| PASS | %s |", "login bob pass: %s", "pass: %s\nuser: bob", "DB_PASS=%s", "PASS=%s", `"user": "bob",`+"\n"+`pass: %s`),
		in("Summer2025!", "user: bob\npass: %s", "PASS=%s", `pass: "%s"`),
		in("TestXk9mQ2vR7p", "pass: %s", "PASS: %s"),
		in("test_q7W8e9R0tY", "pass: %s"),
		in("k3y-v4lt-sh9x", "login: bob\nPASS: %s"),
		in("k7Qz9Lm2x", "pass: %s (s)", "pass: %s (the new one)", "pass: %s (12)"),
		in("x7Kq2mW9", "PASS: %s\nPASS: TestS3\n", "PASS: %s is what I use"),
	)}.check(t, newRedactor(t, Options{}))
}

// TestNameOfATestIsNotLearned: the names of passed tests stay in later texts of a
// session.
func TestNameOfATestIsNotLearned(t *testing.T) {
	s := newRedactor(t, Options{}).Session()
	s.Learn([]byte(`{"content":"--- PASS: TestX509V3Chain2a (0.00s)\n"}`))
	for _, text := range []string{"go test -run TestX509V3Chain2a ./...", "=== RUN   TestX509V3Chain2a\n--- PASS: TestX509V3Chain2a (0.00s)"} {
		if got := s.Text(text).String(); got != text {
			t.Errorf("Text(%q) = %q, want it unchanged", text, got)
		}
	}
	if got := s.Text("pass: Xk9mQ2vR7pLw").String(); strings.Contains(got, "Xk9") {
		t.Errorf("the password is not redacted: %q", got)
	}
}
