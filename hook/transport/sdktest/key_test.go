package sdktest

import _ "github.com/agentcompact/compact/internal/testkey"
