package redact

import "strings"

// isPublic reports whether v has a form that no secret has, even after the name of a
// secret. The weaker the name, the more forms are accepted.
func (v value) isPublic(s strength) bool {
	t := v.text
	switch {
	case isVersion(t), isDependency(t), s == weak && isKeyID(t):
		return true
	case s == password:
		return false
	case isAccount(t), isPointer(t) && !v.env, isObjectKey(t), isImport(t):
		return true
	}
	return s == weak && isCacheKey(t)
}

// isKeyID reports whether s is the id of a key of PGP: 0x and sixteen digits.
func isKeyID(s string) bool {
	return len(s) == 18 && s[:2] == "0x" && run(s, 2, 16, isHex) == 18
}

// isVersion reports whether s is a version or a range of versions: ^1.2.0-rc.1,
// v0.0.0-20240101000000-c0ddbf3c8b2c, 2.3.0.dev8+g74eb5ab0, v1beta1. Requirements are
// written as token==1.2.3, so the operator may be missing.
func isVersion(s string) bool {
	rest := strings.TrimPrefix(strings.TrimLeft(strings.TrimSuffix(s, "/go.mod"), "^~<>=! "), "v")
	ranged := len(rest) < len(s)
	numbers := 0
	for {
		n := run(rest, 0, 6, isDigit)
		if n == 0 || n == 6 {
			break
		}
		numbers++
		rest = rest[n:]
		if len(rest) < 2 || rest[0] != '.' || !isDigit(rest[1]) {
			break
		}
		rest = rest[1:]
	}
	if numbers > 4 || numbers < 2 || numbers == 2 && !ranged {
		return numbers == 1 && ranged && isStageOfAPI(rest)
	}
	return isPreRelease(rest)
}

// isStageOfAPI recognizes the end of v1alpha1 and v2beta3.
func isStageOfAPI(s string) bool {
	for _, stage := range [...]string{"alpha", "beta"} {
		if n, found := strings.CutPrefix(s, stage); found {
			return len(n) > 0 && run(n, 0, 3, isDigit) == len(n)
		}
	}
	return false
}

// isPreRelease reports whether s can follow the numbers of a version: words in one
// case, numbers, and hashes of commits.
func isPreRelease(s string) bool {
	for i := 0; i < len(s); {
		if strings.IndexByte("-.+~:", s[i]) >= 0 {
			i++
		} else if i > 0 || !isAlnum(s[0]) {
			return false
		}
		end := run(s, i, 41, isAlnum)
		part := s[i:end]
		word := run(part, 0, 12, isLower)
		if word == 0 {
			word = run(part, 0, 12, isUpper)
		}
		number := run(part, word, 14, isDigit)
		hash := strings.TrimPrefix(part, "g")
		if number != len(part) && !(len(hash) >= 7 && run(hash, 0, 40, isTag) == len(hash)) || isGibberish(part[:word], 6) {
			return false
		}
		i = end
	}
	return true
}

// isDependency reports whether s names the place of a package for a package manager.
func isDependency(s string) bool {
	from, rest, found := strings.Cut(s, ":")
	if !found || rest == "" {
		return false
	}
	switch from {
	case "git+https", "git+ssh", "git+http", "git+file", "urn":
		return true
	case "github", "gitlab", "bitbucket", "gist", "link", "portal", "patch":
		return strings.IndexByte(rest, '/') > 0
	case "workspace":
		return strings.IndexByte("*^~", rest[0]) >= 0 || isVersion(rest)
	case "npm":
		i := strings.LastIndexByte(rest, '@')
		return i > 0 && isTestPath(strings.TrimPrefix(rest[:i], "@"))
	}
	return false
}

// isChecksum reports whether the value is the digest of a file with secrets, as in the
// annotations of Helm: checksum/secret: 9f86….
func (a *assignment) isChecksum() bool {
	return endsFold(a.s[:a.from], "checksum/") && isDigest(a.val.text)
}

// namesObject reports whether the name is a kind of Kubernetes object, as in the
// output of kubectl, and the value is the name of such an object: secret
// "app-tls-9zq4d" not found.
func (a *assignment) namesObject() bool {
	switch {
	case strings.EqualFold(a.name, "secrets"), strings.EqualFold(a.name, "tokens"):
	case a.op == opBlank && a.name == "secret":
	default:
		return false
	}
	return isPodName(a.val.text) || a.val.quoted && hasPrefix(a.s[min(len(a.s), a.end+a.depth+1):], []string{" not found", " already exists", " created", " deleted", " configured", " unchanged", " is forbidden"})
}

// isPodName reports whether s is the name of an object that Kubernetes made unique:
// words, and at the end five, or eight to ten, characters of an alphabet without vowels.
func isPodName(s string) bool {
	cut := strings.LastIndexByte(s, '-')
	if cut < 3 || !isPodSuffix(s[cut+1:]) {
		return false
	}
	for part := range strings.SplitSeq(s[:cut], "-") {
		letters := run(part, 0, len(part), isLower)
		if part == "" || letters < len(part) && !isPodSuffix(part) && (len(part) > 6 || run(part, letters, 6, isDigit) < len(part)) || isGibberish(part[:letters], 6) {
			return false
		}
	}
	return isLower(s[0])
}

// isPodSuffix reports whether s consists of the letters and digits that Kubernetes
// generates.
func isPodSuffix(s string) bool {
	if len(s) != 5 && (len(s) < 8 || len(s) > 10) {
		return false
	}
	return run(s, 0, len(s), func(c byte) bool { return strings.IndexByte("bcdfghjklmnpqrstvwxz2456789", c) >= 0 }) == len(s) && strings.ContainsAny(s, "2456789")
}

// isPointer reports whether s is an address in memory, in the form that debuggers
// print.
func isPointer(s string) bool {
	digits, found := strings.CutPrefix(s, "0x")
	return found && len(digits) <= 12 && run(digits, 0, len(digits), isHex) == len(digits)
}

// isAccount reports whether s is an address of Ethereum. Private keys of Ethereum
// have 64 digits.
func isAccount(s string) bool {
	return len(s) == 42 && s[:2] == "0x" && run(s, 2, 40, isHex) == len(s)
}

// isCacheKey reports whether s consists of words and a digest, like the names of a
// build's cache entries: Linux-node-3b1f….
func isCacheKey(s string) bool {
	digests, words := 0, 0
	for part := range strings.SplitSeq(s, "-") {
		switch {
		case isDigest(part):
			digests++
		case part != "" && (isIdentifier(part) || len(part) <= 6 && isPath(part)):
			words++
		default:
			return false
		}
	}
	return digests == 1 && words > 0
}

// isObjectKey reports whether s is the path of a file in a bucket.
func isObjectKey(s string) bool {
	first, _, found := strings.Cut(s, "/")
	dot := strings.LastIndexByte(s, '.')
	if !found || dot < strings.LastIndexByte(s, '/') || len(first) > 24 || hasDensePart(first, 6) || !isTestPath(s) {
		return false
	}
	ending := s[dot+1:]
	return ending != "" && len(ending) <= 7 && isLower(ending[0]) && run(ending, 0, len(ending), isLowAlnum) == len(ending)
}
