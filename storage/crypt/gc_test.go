package crypt_test

import _ "github.com/agentcompact/compact/internal/fewgc"
