# What people run. .ci/run uses the same words.

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
GOLANGCI    := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
LIBRARY     := ./compact/... ./configs/... ./hook/... ./message/... ./policy/... ./price/... ./recall/... ./redact/... ./replay/... ./serve/... ./storage/... ./strategy/... ./token/... ./trace/... ./internal/...
FUZZTIME    ?= 5m

.PHONY: test lint golangci race cover fuzz bench soak proof agents sdks generate vuln licenses cross snapshot figures cpu mutants record

test:
	go test ./...

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not gofmt'ed:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	go run $(STATICCHECK) ./...
	go run ./tools/figures -check

# All that .golangci.yml names; building it takes longer than all of lint.
golangci:
	go run $(GOLANGCI) run ./...

race:
	go test -race -short -timeout 60m ./...

# All tests, and what they reach of the library packages, counted together. Four packages
# at once, and those first that wait for servers and take longest. Lint vets them.
cover:
	go test -p 4 -vet=off -timeout 20m -coverprofile=coverage.out -coverpkg=$$(echo $(LIBRARY) | tr ' ' ',') ./storage/s3 ./compact ./storage/spool ./...
	@./.ci/coverage coverage.out 85

# Every fuzz target.
fuzz:
	@./.ci/fuzz $(FUZZTIME)

bench:
	go test -run '^$$' -bench . -benchmem ./...

# The full sweeps: all shared sessions at all windows, 10,000 random histories,
# 1,000 sessions, kills and power losses, ten minutes without S3. The samples of
# the same code run in every `make test`. ONLY and PKG choose some by name:
# make soak ONLY='TestSweepLongRuns/masking/gemini' PKG=./internal/legality
PKG ?= ./...
soak:
	COMPACT_SOAK=1 ./.ci/s3 with go test -timeout 3h -v -run '$(or $(ONLY),Soak|Sweep|Property|Kill|Power|Exact|Planted|Fault|EachSystemCall|InTurn|AtEachStep|Extractive|Readings|InBytes)' $(PKG) | grep -v '^=== '
	$(if $(ONLY),,COMPACT_SOAK=1 ./.ci/s3 with go -C tools/s3 test -timeout 1h -v -run Soak ./... | grep -v '^=== ')

# The records of behavior, after a change that is meant (see CONTRIBUTING.md).
record:
	COMPACT_RECORD=write go test -run AsRecorded ./...

# The tables of README.md and docs/BENCHMARKS.md: policies on the fixed set of
# generated sessions, and, with TRANSCRIPTS=../shared/transcripts, on recorded
# ones. `make test` holds the first against the code.
proof:
	COMPACT_PROOF_TRANSCRIPTS=$(if $(TRANSCRIPTS),$(abspath $(TRANSCRIPTS))) go test ./internal/proof -timeout 60m -count 1 -run Table -update

# Real agents and clients from npm, pinned, through `compactctl run`; AGENTS names some
# of them. It needs Node and a registry of npm, and prints the table of docs/agents.
# With PYTHON=python3 it installs the SDKs in Python, too, and runs those.
agents:
	npm --prefix tools/agents install --no-audit --no-fund
	$(if $(PYTHON),$(PYTHON) -m venv tools/agents/venv && tools/agents/venv/bin/pip install -q -r tools/agents/requirements.txt)
	$(if $(PYTHON),PYTHON=tools/agents/venv/bin/python) node tools/agents/run.mjs $(AGENTS)

# Agents on all Go SDKs, 60 and 300 steps from 8k to 128k tokens: the tables of docs/sdk.
# SHORT=1 runs short ones, LOOP='Loop/eino/16000' some, and RACE=1 one long one of each
# under the race detector, streaming, at 16k, one after the other.
sdks: LOOPS = $(or $(LOOP),$(if $(and $(RACE),$(if $(SHORT),,1)),Loop/streaming/16000,Loop))
sdks:
	@for mod in hook/transport/sdktest examples/sdk/frameworks examples/sdk/fantasy; do \
	  $(if $(SHORT),,COMPACT_SOAK=1) go -C $$mod test $(if $(RACE),-race -p 1) -count 1 -timeout 3h -v -run '$(LOOPS)' ./... || echo "$$mod FAILED"; \
	done | awk '$(if $(LOOP),/FAIL/,/FAIL|no tests to run/) { bad = 1 } (/^[|]|FAIL|[.]go:/) && !seen[$$0]++; END { exit bad }'

generate:
	go generate ./...
	go run ./examples/record -out examples/data

# Known vulnerabilities in what is called; it asks vuln.go.dev.
vuln:
	go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

# The licenses of all that compactctl links.
licenses:
	@./.ci/licenses

# Vet, tests included, for the systems that this one is not.
cross:
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...
	GOOS=linux GOARCH=386 go build ./...

# How large the project is: lines, files, functions, exported names, arrows in compact.
figures:
	go run ./tools/figures

# What the tests cost: CPU time of each package's test binary. PKG chooses packages.
cpu:
	go run ./tools/cputime $(PKG)

# The files of a release, in dist/, unpublished. It needs syft for the lists of contents.
snapshot:
	go run github.com/goreleaser/goreleaser/v2@v2.17.0 release --snapshot --clean --skip=publish

# Faults planted at random in core logic, one at a time: how many the tests of the same
# package catch. SEED and N choose which, CORE where; it prints those that survive.
CORE ?= ./policy ./internal/reduce ./policy/tidy ./strategy ./internal/summarize ./message ./token ./price ./redact ./recall ./storage/record ./hook/transport ./replay ./search ./compact
mutants:
	@for pkg in $(CORE); do echo "$$pkg"; go run ./tools/mutants -n $(or $(N),24) -seed $(or $(SEED),1) $$pkg || exit 1; done
