package strategy

import (
	"strings"
	"testing"
)

const psStatus = "Exit code: 0\nWall time: 1.1 seconds\nOutput:\n"

// An agent on Windows writes files with here-strings. The text of one is no command.
func TestFilesOfPowerShellAreTold(t *testing.T) {
	dir := `"workdir":"C:\\shop\\shop"`
	tells(t, long("Build the shop.", ranCalls(
		[3]string{"shell_command", `{"command":"@'\nRun npm install and git push, then rm old.py\n'@ | Set-Content app\\core\\tax.py",` + dir + `}`, psStatus},
		[3]string{"shell_command", `{"command":"(Get-Content -Raw app\\main.py) -replace 'net','gross' | Set-Content -Encoding utf8 -Path app\\main.py",` + dir + `}`, psStatus},
		[3]string{"shell_command", `{"command":"Add-Content notes.md 'one more line'; Remove-Item -Force old\\a.txt; Rename-Item conf\\b.ini c.ini",` + dir + `}`, psStatus},
		[3]string{"shell_command", `{"command":"Remove-Item keep.txt -WhatIf; New-Item -ItemType Directory -Force docs.d; Get-Content x.md",` + dir + `}`, psStatus},
	)...), []string{
		"`app/core/tax.py`: created",
		"`app/main.py`: edited",
		"`notes.md`: edited",
		"`old/a.txt`: deleted",
		"`conf/c.ini`: renamed from `conf/b.ini`",
	}, []string{"old.py`", "npm install", "git push`", "keep.txt`: deleted", "docs.d`: created", "x.md`: edited"})
}

// A command in another folder of Windows works on other files.
func TestFoldersOfWindowsTellFilesApart(t *testing.T) {
	tells(t, long("Build the shop.", ranCalls(
		[3]string{"shell_command", `{"command":"Set-Content web.json '{}'","workdir":"C:\\shop\\ui"}`, psStatus},
		[3]string{"shell_command", `{"command":"Set-Content main.json '{}'","workdir":"C:\\shop\\ui"}`, psStatus},
		[3]string{"shell_command", `{"command":"Set-Content web.json '{}'","workdir":"C:\\shop\\api"}`, psStatus},
	)...), []string{"`web.json`: created", "`C:/shop/api/web.json`: created"}, []string{"then edited"})
}

const psRefused = "Exit code: 1\nOutput:\nnpm : File C:\\node\\npm.ps1 cannot be loaded because running scripts is disabled \non this system.\nAt line:2 char:1\n+ npm --version\n+ ~~~\n    + CategoryInfo          : SecurityError: (:) [], PSSecurityExce \n   ption\n    + FullyQualifiedErrorId : UnauthorizedAccess\n"

// An error record of PowerShell says the error in its first lines; its category is a code.
func TestErrorRecordIsToldByItsMessage(t *testing.T) {
	tells(t, long("Build the shop.", ranCalls(
		[3]string{"shell_command", `{"command":"npm --version"}`, psRefused},
		[3]string{"shell_command", `{"command":"python run.py"}`, "Exit code: 1\nOutput:\npython : Traceback (most recent call last):\nAt line:2 char:1\n+ python run.py\n+ ~~~\n    + CategoryInfo          : NotSpecified: (Traceback (most recent call last)::String) [], RemoteException\n    + FullyQualifiedErrorId : NativeCommandError\n \n  File \"run.py\", line 1\nValueError: no tax for AT\n"},
	)...), []string{
		"failed (exit 1): npm : File C:\\node\\npm.ps1 cannot be loaded because running scripts is disabled on this system.",
		"`python run.py` failed (exit 1): ValueError: no tax for AT",
	}, []string{"CategoryInfo", "ption\n", "RemoteException"})
}

// Windows runs npm as npm.ps1, npm.cmd or npm; an environment has its own python. They are one check.
func TestInstalledProgramIsTheSameCheck(t *testing.T) {
	text := write4(t, long("Build the shop.", ranCalls(
		[3]string{"shell_command", `{"command":"npm test"}`, psRefused},
		[3]string{"shell_command", `{"command":"npm.cmd test"}`, "Exit code: 0\nOutput:\nTests  3 passed (3)\n"},
		[3]string{"shell_command", `{"command":".venv/bin/python -m pytest"}`, "Exit code: 1\nOutput:\n1 failed, 2 passed in 0.1s\n"},
		[3]string{"shell_command", `{"command":"source .venv/bin/activate && python -m pytest"}`, "Exit code: 0\nOutput:\n3 passed in 0.1s\n"},
	)...))
	for _, want := range []string{"`npm.cmd test` passed", "after it had failed once", "python -m pytest` passed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

// A terminal repeats its prompt before and after an output.
func TestPromptOfTerminalIsNoOutput(t *testing.T) {
	tells(t, long("Publish the shop.", ranCalls(
		[3]string{"run_terminal_cmd", `{"command":"git rebase --abort"}`, "ann@desk-9 shop % git rebase --abort\nann@desk-9 shop % "},
		[3]string{"run_terminal_cmd", `{"command":"git push origin main"}`, "ann@desk-9:~/shop$ git push origin main\nTo example.org:shop.git\n   a1b2c3d..d4e5f6a  main -> main\nann@desk-9:~/shop$ "},
	)...), []string{"a1b2c3d..d4e5f6a main -> main"}, []string{"ann@desk-9"})
}
