package redact

import _ "github.com/agentcompact/compact/internal/fewgc"
