package configs

import _ "github.com/agentcompact/compact/internal/testkey" // for archives of tests
