package eval

import _ "github.com/agentcompact/compact/internal/fewgc"
