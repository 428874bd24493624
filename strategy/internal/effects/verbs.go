package effects

// Verbs lists words in the names of tools that change something.
var Verbs = []string{"create", "update", "cancel", "book", "send", "submit", "delete", "transfer", "pay", "refund", "return", "exchange",
	"modify", "post", "publish", "deploy", "toggle", "reset", "enable", "disable", "grant", "schedule", "reserve", "add", "remove", "set", "refuel",
	"merge", "commit", "push"}

// AskingVerbs lists words in the names of tools that only query something: can_send_mms.
var AskingVerbs = []string{"can", "is", "has", "get", "list", "check", "search", "find", "fetch", "view", "show", "describe", "count", "read", "lookup", "verify", "validate", "preview"}
