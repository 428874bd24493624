package replay

import _ "github.com/agentcompact/compact/internal/fewgc"
