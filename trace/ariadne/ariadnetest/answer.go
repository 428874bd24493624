package ariadnetest

import (
	"encoding/json"
	"net/http"
)

// jsTime is JavaScript's format of a time.
const jsTime = "2006-01-02T15:04:05.000Z"

func reply(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer) // the client may be gone
}

// cors answers as the server does: it knows two origins, and answers a request from any
// other origin with the first of them.
func cors(w http.ResponseWriter, r *http.Request) {
	const page = "http://localhost:5173"
	origin := r.Header.Get("Origin")
	if origin != "http://127.0.0.1:5173" {
		origin = page
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "GET,POST,OPTIONS")
	h.Set("Access-Control-Allow-Headers", "Content-Type")
}

// fault describes why the server refuses a body.
type fault struct {
	status  int
	message string  // of a 500
	issues  []issue // of a 400
}

// issue is one validation error of the schema.
type issue struct {
	Path    []any  `json:"path"`
	Message string `json:"message"`
}

func (f *fault) answer() any {
	if f.status == http.StatusInternalServerError {
		return map[string]string{"error": "Internal server error", "message": f.message}
	}
	return map[string]any{"error": "Validation failed", "details": f.issues}
}

func (f *fault) reason() string {
	if f.status == http.StatusInternalServerError {
		return f.message
	}
	why, _ := json.Marshal(f.issues) // strings and numbers only
	return string(why)
}
