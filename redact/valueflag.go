package redact

import "strings"

// nameFlags lists flags that name a value. Another flag of the command has the value.
var nameFlags = [...]string{" --name ", " --name=", " -name ", " --key ", " --variable ", " --parameter-name ", " --secret-id ", " /v "}

// flaggedValue finds the argument of a flag for a value, if another flag of the command names a
// secret: put-parameter --name db/password --value VALUE, reg add KEY /v Password /d VALUE.
func flaggedValue(sc *scan, start, end int) {
	s := sc.s
	from, stop := commandStart(s, start), commandEnd(s, end)
	sc.spend(stop - from)
	if namesSecret(s[from:stop]) {
		sc.argument(skipBlanks(s, end))
	}
}

// commandStart returns the start of the command that contains i, or of its last bytes before i. A
// backslash at the end of a line continues the command.
func commandStart(s string, i int) int {
	for least := max(0, i-maxLine); i > least; i-- {
		switch s[i-1] {
		case ';', '|':
			return i
		case '\n':
			if i < 2 || s[i-2] != '\\' {
				return i
			}
		case 'n':
			if i > 1 && s[i-2] == '\\' {
				return i // an escaped line break
			}
		}
	}
	return i
}

// namesSecret reports whether the first flag of a command that names a value names a secret, or
// whether the command has the type SecureString.
func namesSecret(line string) bool {
	if strings.Contains(line, "SecureString") {
		return true
	}
	for i := range len(line) {
		if line[i] != ' ' {
			continue
		}
		for _, flag := range nameFlags {
			if !hasFold(line[i:], flag) {
				continue
			}
			at := skipBlanks(line, i+len(flag))
			name := strings.Trim(line[at:argumentEnd(line, at, len(line))], `"'`)
			return nameStrength(name[strings.LastIndexByte(name, '/')+1:]) >= telling
		}
	}
	return false
}

// onValueFlags adds the flags for values to a vocabulary.
func onValueFlags(b *vocabularyBuilder) {
	for _, flag := range [...]string{" --value ", " --value=", " -value ", " /d "} {
		b.on(flag, flaggedValue)
	}
	b.on("securestring\t", place) // a table of AWS
}
