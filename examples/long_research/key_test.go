package main

import _ "github.com/agentcompact/compact/internal/testkey"
