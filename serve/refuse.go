package serve

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// errorHeader is the header of an error that this proxy answers itself; its value is
// the operation that failed.
const errorHeader = "X-Compact-Error"

type object = map[string]any

// kinds holds the providers' names of errors, by status.
var kinds = map[int]struct{ openAI, anthropic, gemini string }{
	http.StatusBadRequest:         {"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"},
	http.StatusUnauthorized:       {"invalid_request_error", "authentication_error", "UNAUTHENTICATED"},
	http.StatusNotFound:           {"invalid_request_error", "not_found_error", "NOT_FOUND"},
	http.StatusMethodNotAllowed:   {"invalid_request_error", "invalid_request_error", "INVALID_ARGUMENT"},
	http.StatusUpgradeRequired:    {"invalid_request_error", "invalid_request_error", "FAILED_PRECONDITION"},
	http.StatusServiceUnavailable: {"server_error", "overloaded_error", "UNAVAILABLE"},
	http.StatusBadGateway:         {"server_error", "api_error", "UNAVAILABLE"},
	http.StatusGatewayTimeout:     {"server_error", "api_error", "DEADLINE_EXCEEDED"},
}

// refuse answers instead of the provider, in the form of its errors.
func refuse(w http.ResponseWriter, path string, status int, text string) {
	kind := kinds[status]
	var body object
	switch formOf(path) {
	case forAnthropic:
		body = object{"type": "error", "error": object{"type": kind.anthropic, "message": text}}
	case forGemini:
		body = object{"error": object{"code": status, "message": text, "status": kind.gemini}}
	default:
		body = object{"error": object{"message": text, "type": kind.openAI, "param": nil, "code": nil}}
	}
	data, err := json.Marshal(body)
	if err != nil {
		data = nil // can't happen: the body has only strings and numbers
	}
	h := w.Header()
	if h.Get(errorHeader) == "" {
		h.Set(errorHeader, "serve")
	}
	if status == http.StatusServiceUnavailable {
		h.Set("Retry-After", "1")
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
