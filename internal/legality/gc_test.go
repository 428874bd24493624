package legality

import _ "github.com/agentcompact/compact/internal/fewgc"
