package proof

import _ "github.com/agentcompact/compact/internal/fewgc"
