package configs

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy"
)

func adviseFolder(setting string) func(error) string {
	return func(err error) string {
		switch {
		case errors.Is(err, fs.ErrPermission):
			return "let this user write to the folder, or name another one in " + setting
		case errorContains(err, "read-only file system"):
			return "the file system is read-only: name another folder in " + setting
		case errorContains(err, "no space left", "quota exceeded"):
			return "free space on the disk, or name a folder on another disk in " + setting
		case errorContains(err, "not a directory"):
			return "a file has the name of the folder: name another folder in " + setting
		}
		return "name another folder in " + setting
	}
}

// errorContains reports whether the text of err holds one of words. It looks at the text
// because error numbers differ between systems.
func errorContains(err error, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(err.Error(), w) })
}

// adviseCollector returns the advice about the collector that a setting names.
func adviseCollector(setting string) func(error) string {
	return func(err error) string {
		switch statusIn(err) {
		case http.StatusUnauthorized, http.StatusForbidden:
			return "set the headers that it requires in OTEL_EXPORTER_OTLP_HEADERS"
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			return "the server does not accept OTLP over HTTP there: correct the port and the path of " + setting
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return ""
		}
		return "start the collector, or correct " + setting + " (OTLP over HTTP, not gRPC)"
	}
}

func adviseAriadne(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	return "start Ariadne, or correct trace.ariadne_url"
}

func adviseSummarizer(err error) string {
	f := new(strategy.Failure)
	if !errors.As(err, &f) {
		return ""
	}
	switch f.Status {
	case 0:
		return "start the server, or correct summarizer.base_url"
	case http.StatusUnauthorized, http.StatusForbidden:
		return "put a key of this server into " + keyVariable
	case http.StatusNotFound:
		return "correct summarizer.model, or the path of summarizer.base_url"
	case http.StatusTooManyRequests:
		return "the server accepts no more requests for this key now: check the limits and the bill of the key"
	}
	return ""
}

var statusText = regexp.MustCompile(`\b([45]\d\d)\b`)

// statusIn finds an HTTP status in the text of an error that has no field for
// it.
func statusIn(err error) int {
	if m := statusText.FindStringSubmatch(err.Error()); m != nil {
		n, _ := strconv.Atoi(m[1])
		return n
	}
	return 0
}
