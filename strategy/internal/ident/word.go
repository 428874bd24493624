package ident

import "strings"

// path reports text[start:end), which contains a slash, as a path. If it is not a path,
// path reports the identifiers between its slashes.
func path(text string, start, end int, members bool, found func(Kind, int, int)) {
	for end > start && strings.IndexByte(".-+@%~", text[end-1]) >= 0 && !isPattern(text[start:end]) {
		end--
	}
	if end > start && sideOfDiff(text[:start], text[start:end]) {
		start += len("a/")
	}
	if text[start] == '/' && start > 0 && text[start-1] == '<' {
		start++ // the end of a tag
	}
	if end > start && text[end-1] == '/' && end < len(text) && text[end] == '>' {
		end-- // a self-closing tag
	}
	if isPath(text[start:end]) {
		found(Path, start, end)
		return
	}
	for start < end {
		cut := strings.IndexByte(text[start:end], '/')
		if cut < 0 {
			cut = end - start
		}
		word(text, start, start+cut, members, found)
		start += cut + 1
	}
}

// isPattern reports whether s ends like ./x/..., the pattern for all files below a folder.
func isPattern(s string) bool { return strings.HasSuffix(s, "/...") }

// sideOfDiff reports whether path begins with the a/ or b/ that a diff puts
// before the name of a file: "diff --git a/x b/x", "--- a/x", "+++ b/x".
func sideOfDiff(before, path string) bool {
	if len(path) < 3 || path[1] != '/' || path[0] != 'a' && path[0] != 'b' {
		return false
	}
	for _, mark := range []string{"--- ", "+++ ", "diff --git "} {
		if line, ok := strings.CutSuffix(before, mark); ok {
			return line == "" || strings.HasSuffix(line, "\n")
		}
	}
	same, ok := strings.CutSuffix(before, path[2:]+" ")
	return ok && strings.HasSuffix(same, "diff --git a/")
}

// isPath reports whether s is a path, such as a/b/c, word/word with three letters each, or
// ./x, and not "and/or", 1/2 or a single slash.
func isPath(s string) bool {
	s = strings.TrimSuffix(s, "...") // end of a pattern
	parts, letters, longest, shortest := 0, 0, 0, len(s)
	part := 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == '/' {
			if part > 0 {
				parts++
				longest, shortest = max(longest, part), min(shortest, part)
			}
			part = 0
			continue
		}
		if class[s[i]]&inWord != 0 {
			part++
		}
		if class[s[i]]&(upper|lower) != 0 {
			letters++
		}
	}
	if letters == 0 || parts == 0 || longest < 2 {
		return false
	}
	switch {
	case parts >= 3:
		return true
	case strings.IndexByte("/.~@", s[0]) >= 0:
		return letters >= 2
	case parts == 2:
		return letters >= 4 && (strings.ContainsAny(s, "._-") || longest >= 5 || shortest >= 3)
	}
	return strings.HasSuffix(s, "/") && letters >= 2
}

// word reports the identifiers in a run without slashes: a file name, an id, a
// version, or the words between its dots and dashes.
func word(text string, start, end int, members bool, found func(Kind, int, int)) {
	for start < end && class[text[start]]&(inWord) == 0 && text[start] != '.' {
		start++
	}
	for end > start && class[text[end-1]]&inWord == 0 {
		end--
	}
	s := text[start:end]
	if len(s) < 3 {
		return
	}
	if isEmail(s) {
		found(Email, start, end)
		return
	}
	if strings.IndexByte(s, '.') >= 0 || strings.IndexByte(s, '-') >= 0 {
		if k, ok := compound(s); ok {
			found(k, start, end)
			return
		}
		if members && isMember(s) {
			found(Member, start, end)
		}
	}
	for start < end {
		cut := start
		for cut < end && class[text[cut]]&inWord != 0 {
			cut++
		}
		if k, ok := single(text[start:cut]); ok {
			found(k, start, cut)
		}
		start = cut + 1
	}
}

func compound(s string) (Kind, bool) {
	switch {
	case isUUID(s):
		return Hex, true
	case isVersion(s), isDate(s):
		return Version, true
	case isTicket(s):
		return Ticket, true
	case isFile(s):
		return File, true
	}
	return 0, false
}

// isEmail reports whether s is name@host.domain.
func isEmail(s string) bool {
	at := strings.IndexByte(s, '@')
	return at > 0 && strings.IndexByte(s[at+1:], '.') > 0 && strings.IndexByte(s[at+1:], '@') < 0
}

func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	for i := range len(s) {
		if s[i] != '-' && class[s[i]]&hexDigit == 0 {
			return false
		}
	}
	return true
}

// isVersion reports whether s consists of digits and dots, with an optional v
// before them or a pre-release after them.
func isVersion(s string) bool {
	s = strings.TrimPrefix(s, "v")
	if s == "" || class[s[0]]&digit == 0 {
		return false
	}
	dots := 0
	for i := range len(s) {
		switch {
		case class[s[i]]&digit != 0:
		case s[i] == '.' && i+1 < len(s) && class[s[i+1]]&digit != 0:
			dots++
		case (s[i] == '-' || s[i] == '+') && dots >= 2:
			return true
		default:
			return false
		}
	}
	return dots > 0
}

// isDate reports whether s begins with a date, such as 2026-01-31, with or without a time
// after it.
func isDate(s string) bool {
	if len(s) < 10 || s[4] != '-' || s[7] != '-' {
		return false
	}
	for i := range 10 {
		if i != 4 && i != 7 && class[s[i]]&digit == 0 {
			return false
		}
	}
	return len(s) == 10 || s[10] == 'T' || s[10] == '-' || s[10] == '_'
}

// isMember reports whether s consists of names joined by dots, and the last name alone is
// not an identifier.
func isMember(s string) bool {
	parts, letters, part := 0, 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || s[i] == '.':
			if part == 0 {
				return false
			}
			parts++
			part = 0
		case class[s[i]]&inWord == 0, part == 0 && class[s[i]]&digit != 0:
			return false
		default:
			if class[s[i]]&(upper|lower) != 0 {
				letters++
			}
			part++
		}
	}
	if parts < 2 || letters < 3 {
		return false
	}
	_, alone := single(s[strings.LastIndexByte(s, '.')+1:])
	return !alone
}

func isTicket(s string) bool {
	dash := strings.IndexByte(s, '-')
	if dash < 2 || dash == len(s)-1 || class[s[0]]&upper == 0 {
		return false
	}
	for i := range dash {
		if class[s[i]]&(upper|digit) == 0 {
			return false
		}
	}
	for i := dash + 1; i < len(s); i++ {
		if class[s[i]]&digit == 0 {
			return false
		}
	}
	return true
}

// isFile reports whether s ends in the extension of a file.
func isFile(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	if dot < 0 || len(s)-dot-1 > 10 {
		return false
	}
	ext := s[dot+1:]
	low := strings.ToLower(ext)
	// "done.So" is the end of a sentence and the beginning of the next.
	return dot > 0 && extensions[low] && (ext == low || ext == strings.ToUpper(ext))
}

var extensions = func() map[string]bool {
	m := map[string]bool{}
	for _, e := range strings.Fields(`go mod sum py pyi ipynb js mjs cjs jsx ts mts cts tsx vue svelte java kt kts
		scala rb rs c h cc cpp hpp cs fs swift php pl pm lua r jl ex exs erl hs ml clj dart zig nim sh bash zsh fish ps1
		bat cmd sql graphql proto html htm css scss sass less xml xsl svg json jsonl ndjson json5 yaml yml toml ini cfg
		conf env lock md mdx rst txt csv tsv log pdf doc docx xls xlsx ppt pptx png jpg jpeg gif webp ico bmp tiff mp3
		mp4 wav mov avi zip gz tgz tar bz2 xz zst 7z rar jar war whl deb rpm exe dll so dylib a o wasm db sqlite
		parquet pkl pem crt key tmpl tpl gotmpl j2 hbs ejs diff patch snap tf tfvars tape pen plist service
		dockerfile gitignore map sol cairo cmake mk gradle properties rego nix http feature txtar`) {
		m[e] = true
	}
	return m
}()

// single classifies one word of letters, digits and underscores.
func single(s string) (Kind, bool) {
	if len(s) < 3 {
		return 0, false
	}
	var digits, hex, uppers, lowers, under, humps int
	for i := range len(s) {
		c := class[s[i]]
		switch {
		case c&digit != 0:
			digits++
		case c&upper != 0:
			uppers++
			if i > 0 && class[s[i-1]]&(lower|digit) != 0 {
				humps++
			}
		case c&lower != 0:
			lowers++
		default:
			under++
		}
		if c&hexDigit != 0 {
			hex++
		}
	}
	switch {
	case digits == len(s):
		return Number, true
	case hex == len(s) && len(s) >= 7 && digits > 0 && (uppers == 0 || lowers == 0):
		return Hex, true
	case under > 0 && under < len(s) && strings.Trim(s, "_") != "" && strings.Contains(strings.Trim(s, "_"), "_"):
		return Snake, uppers+lowers > 1
	case len(s) >= 5 && digits >= 2 && uppers > 0 && digits+uppers == len(s):
		return Code, true
	case humps > 0 && class[s[0]]&lower != 0:
		return Camel, lowers > 1 || len(s) >= 4 // eBPF, but not vE
	case humps > 0 && class[s[0]]&upper != 0 && lowers > 1:
		return Pascal, true
	case uppers > 1 && lowers > 1 && class[s[0]]&upper != 0 && isAcronymName(s):
		return Pascal, true
	}
	return 0, false
}

// isAcronymName reports whether s is a name such as HTTPServer, and not a word in capitals.
func isAcronymName(s string) bool {
	for i := 1; i+1 < len(s); i++ {
		if class[s[i]]&upper != 0 && class[s[i+1]]&lower != 0 {
			return true
		}
	}
	return false
}
