module github.com/agentcompact/compact/tools/indexbench

go 1.25.0

require (
	github.com/agentcompact/compact v0.0.0
	go.etcd.io/bbolt v1.4.3
)

require (
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/term v0.45.0 // indirect
)

replace github.com/agentcompact/compact => ../..
