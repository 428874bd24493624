// Package arch holds the tests of the architecture: the allowed imports of each package, and
// the dependencies that a program with compact links.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/agentcompact/compact"

// arrows holds the packages of the project that each package may import, including packages
// below that folder. A package that is not listed may import none of them, so that each new
// package needs a decision. All packages may use internal/…, and the packages below
// internal import only the listed packages.
var arrows = map[string][]string{
	"internal/jsonscan":  {},
	"internal/arch":      {},
	"internal/ctxlock":   {},
	"internal/firstgc":   {},
	"internal/setting":   {},
	"internal/flaky":     {"storage"},
	"internal/crew":      {"message", "strategy", "internal/summarize", "storage", "storage/record", "compact", "recall"},
	"internal/corpus":    {},
	"internal/samples":   {},
	"internal/fewgc":     {},
	"internal/forgery":   {"redact", "storage", "storage/record"},
	"internal/canary":    {},
	"internal/invariant": {"message"},
	"internal/planted":   {},
	"internal/provider":  {},
	"internal/agentloop": {"compact", "hook", "storage", "token", "internal/provider"},
	"internal/legality":  {},
	"internal/histgen":   {"message"},
	"internal/proof":     {"message", "compact", "price", "replay"},
	"internal/secretgen": {},
	"internal/garble":    {},
	"internal/behavior":  {"internal/garble"},
	"internal/cputime":   {},
	"internal/slope":     {"internal/cputime"},
	"internal/chart":     {},
	"internal/fold":      {},
	"internal/testrun":   {},
	"internal/testkey":   {"message", "storage/seal"},
	"internal/excerpt":   {},
	"internal/panics":    {"redact"},
	"internal/ledger":    {"message", "token", "policy", "internal/reduce", "redact", "storage", "storage/record", "internal/jsonscan"},
	"internal/lookup":    {"message", "policy", "storage", "storage/record", "storage/seal", "internal/ledger"},
	"message":            {"internal/jsonscan"},
	"token":              {"message", "internal/jsonscan"},
	"policy":             {"message", "token", "internal/setting", "internal/testrun", "internal/toolcall", "internal/running", "internal/formname"},
	"price":              {},
	"strategy":           {"message", "token", "policy", "internal/jsonscan", "internal/fold", "internal/testrun", "internal/material", "strategy/internal/ident", "strategy/internal/prose", "strategy/internal/shell", "strategy/internal/checks", "strategy/internal/effects", "strategy/internal/fileops", "strategy/internal/rules", "strategy/internal/lazy"},
	"redact":             {"internal/jsonscan"},
	"trace":              {"redact", "internal/jsonscan", "internal/ctxlock"},
	"recall":             {"message", "storage", "storage/record", "internal/ledger", "internal/lookup", "internal/excerpt", "internal/panics"},
	"compact":            {"message", "token", "policy", "internal/reduce", "internal/toolcall", "internal/formname", "policy/compat", "price", "strategy", "internal/summarize", "redact", "storage", "storage/record", "storage/seal", "trace", "recall", "internal/ledger", "internal/lookup", "internal/excerpt", "internal/panics", "internal/jsonscan", "internal/ctxlock", "internal/setting"},
	"replay":             {"message", "token", "policy", "internal/reduce", "strategy", "strategy/eval", "internal/summarize", "price", "redact", "storage", "storage/record", "storage/seal", "compact", "recall", "internal/chart", "internal/fold"},
	"search":             {"message", "storage", "storage/record", "recall"},
	"configs":            {"message", "token", "policy", "strategy", "internal/summarize", "redact", "storage", "storage/record", "storage/spool", "trace", "compact", "configs/internal/driver", "internal/jsonscan", "internal/setting"},

	// A package below configs links a heavy dependency into the programs that import it.
	"configs/internal/driver": {"strategy", "storage", "trace", "compact"},
	"configs/s3":              {"storage", "compact", "configs/internal/driver", "internal/setting"},
	"configs/age":             {"storage", "compact", "configs/internal/driver"},
	"configs/otlp":            {"trace", "compact", "configs/internal/driver"},
	"configs/openai":          {"strategy", "compact", "configs/internal/driver"},
	"configs/all":             {"configs/s3", "configs/age", "configs/otlp", "configs/openai"},
	"cmd/compactctl":          {"internal/firstgc", "search", "recall", "message", "token", "policy", "strategy", "strategy/eval", "internal/summarize", "redact", "storage", "storage/record", "storage/seal", "storage/spool", "trace", "compact", "configs", "configs/all", "price", "replay", "serve", "internal/jsonscan", "internal/setting", "internal/fold"},
	"tools/cputime":           {},
	"tools/figures":           {},
	"tools/mutants":           {},
	"tools/racetests":         {},
	"tools/summaries":         {"message", "token", "internal/summarize"},
	"examples":                {"message", "token", "policy", "strategy", "redact", "storage", "trace", "compact", "configs"},
	"hook":                    {"message", "compact", "internal/jsonscan"},
	"serve":                   {"message", "compact", "recall", "hook", "storage", "storage/record", "trace", "internal/chart", "internal/jsonscan"},

	// Package storage and its adapters know nothing of sessions. Three other packages may know
	// them: seal stores the ids of its keys in the record, spool reads tombstones and holds
	// because it repeats an erase in the bucket, and storagetest scrubs a session.
	"storage":             {"redact", "internal/ctxlock"},
	"storage/record":      {"redact", "storage", "internal/ctxlock", "internal/jsonscan"},
	"storage/seal":        {"storage", "storage/record"},
	"storage/spool":       {"storage", "storage/record"},
	"storage/storagetest": {"redact", "storage", "storage/record"},
	"policy/compat":       {"message", "token", "policy"},
	"policy/policytest":   {"message", "policy", "internal/reduce"}, // this package tests the promises that the engine checks

	// The engine uses the types of policy, and policy must not import the engine: the engine calls
	// a stage, and a stage does not call the engine. The engine passes the facts of its run to a
	// view through running, and no other module can name that type.
	"internal/formname": {}, // names that ledgers store; policy has the texts
	"internal/toolcall": {"message"},
	"internal/running":  {"message"},
	"internal/reduce":   {"message", "policy", "internal/toolcall", "internal/running"},

	// These packages of strategy read strings, and know no history. Each imports only packages of
	// lower layers.
	"strategy/internal/ident":         {},
	"strategy/internal/lazy":          {},
	"strategy/internal/lazy/lazytest": {"strategy/internal/lazy"},
	"strategy/internal/prose":         {},
	"strategy/internal/shell":         {},
	"strategy/internal/checks":        {"strategy/internal/prose", "strategy/internal/shell"},
	"strategy/internal/effects":       {"strategy/internal/prose", "strategy/internal/shell"},
	"strategy/internal/fileops":       {"strategy/internal/lazy", "strategy/internal/prose", "strategy/internal/shell"},
	"strategy/internal/rules":         {"strategy/internal/ident", "strategy/internal/lazy", "strategy/internal/prose"},

	// In the same way the writer of summaries uses strategy, and strategy must not import
	// the writer. It passes facts of the source to strategy through material.
	"internal/material":         {"message"},
	"internal/summarize":        {"message", "policy", "strategy", "internal/material"},
	"strategy/eval":             {"strategy/internal/ident", "strategy/internal/lazy", "message", "token", "strategy", "internal/summarize", "internal/fold"},
	"strategy/openai/record":    {"message", "strategy", "internal/summarize"},
	"trace/tracetest":           {"trace", "redact"},
	"trace/ariadne/ariadnetest": {},
}

// heavy lists the only packages that may import a dependency.
var heavy = map[string][]string{
	"github.com/sashabaranov/go-openai":          {"strategy/openai"},
	"github.com/pkoukk/tiktoken-go":              {"token/tiktoken", "token/internal/genvocab"},
	"github.com/aws/aws-sdk-go-v2":               {"storage/s3"},
	"filippo.io/age":                             {"storage/crypt"},
	"go.opentelemetry.io":                        {"trace/otel"},
	"github.com/spf13/viper":                     {"configs"},
	"github.com/go-playground/validator":         {"configs"},
	"github.com/spf13/cobra":                     {"cmd/compactctl"},
	"github.com/modelcontextprotocol/go-sdk":     {"serve/mcpserver"},
	"github.com/klauspost/compress":              {"serve"},
	"modernc.org/sqlite":                         {"search"},
	"github.com/pkoukk/tiktoken-go-loader":       {"token/tiktoken", "token/internal/genvocab"},
	"github.com/tiktoken-go/tokenizer":           {},
	"github.com/zricethezav/gitleaks":            {},
	"github.com/johannesboyne/gofakes3":          {},
	"github.com/rogpeppe/go-internal/testscript": {},
}

type pkg struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Standard"}, args...)...)
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// owner returns the entry of arrows that a package falls under.
func owner(rel string) string {
	for rel != "" {
		if _, ok := arrows[rel]; ok {
			return rel
		}
		rel = rel[:max(strings.LastIndexByte(rel, '/'), 0)]
	}
	return ""
}

func TestPackagesImportInOneDirection(t *testing.T) {
	begins := map[string]bool{}
	defer func() {
		for key := range arrows {
			if !begins[key] {
				t.Errorf("%s: there is no such package; remove it from arrows", key)
			}
		}
	}()
	for _, p := range list(t, "./...") {
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		key := owner(from)
		begins[key] = true
		if key == "" && from != "" {
			t.Errorf("%s: it has no rule for imports; add it to arrows, and to docs/ARCHITECTURE.md", from)
			continue
		}
		for _, imp := range p.Imports {
			to, inside := strings.CutPrefix(imp, module+"/")
			if !inside {
				checkHeavy(t, from, imp)
				continue
			}
			if target := owner(to); target != key && !slices.Contains(arrows[key], target) {
				t.Errorf("%s imports %s: the list arrows does not allow it", from, to)
			}
		}
	}
}

func checkHeavy(t *testing.T, from, imp string) {
	for dep, only := range heavy {
		if strings.HasPrefix(imp, dep) && !slices.ContainsFunc(only, func(p string) bool { return from == p || strings.HasPrefix(from, p+"/") }) {
			t.Errorf("%s imports %s, which only %v may", from, imp, only)
		}
	}
}

// Packages below redact, storage and trace must not know messages, and storage and trace
// know only the type Text of redact and the functions that make constants of it; the
// compiler enforces the rest.
func TestStorageAndTraceUseOnlyTheTypeOfRedact(t *testing.T) {
	out, err := exec.Command("grep", "-rnE", `redact\.[A-Z]\w*`, "--include=*.go", "-oh", "../../storage", "../../trace").Output()
	if err != nil {
		t.Fatalf("grep: %v", err)
	}
	allowed := []string{"redact.Text", "redact.Lit", "redact.Join", "redact.Digest", "redact.Ref"}
	for _, line := range strings.Fields(string(out)) {
		name := line[strings.LastIndex(line, ":")+1:]
		if !slices.Contains(allowed, name) && !strings.HasPrefix(name, "redact.New") && name != "redact.Options" && name != "redact.Redactor" {
			t.Errorf("storage or trace uses %s, which is not allowed", name)
		}
	}
}

// Only two kinds of packages can make a Blob of unredacted text: packages below storage
// that rewrite stored data, and package record for its own files.
func TestOnlyStoragePackagesMakeUncheckedBlobs(t *testing.T) {
	const door = module + "/storage/internal/unchecked"
	allowed := []string{"storage", "storage/record", "storage/crypt", "storage/s3", "storage/spool"}
	users := 0
	for _, p := range list(t, "./...") {
		if !slices.Contains(p.Imports, door) {
			continue
		}
		users++
		if from := strings.TrimPrefix(p.ImportPath, module+"/"); !slices.Contains(allowed, from) {
			t.Errorf("%s imports %s, which only the listed packages may", from, door)
		}
	}
	if users != len(allowed) {
		t.Errorf("%d packages import %s, want %d", users, door, len(allowed))
	}
}

func TestProgramThatImportsCompactLinksNoHeavyDependency(t *testing.T) {
	linked := map[string]bool{}
	for _, p := range list(t, "-deps", "./compact") {
		linked[p.ImportPath] = true
	}
	for dep := range heavy {
		for l := range linked {
			if strings.HasPrefix(l, dep) {
				t.Errorf("compact links %s", l)
			}
		}
	}
	for _, p := range list(t, "-deps", "./compact") {
		if first, _, _ := strings.Cut(p.ImportPath, "/"); !p.Standard && strings.Contains(first, ".") && !strings.HasPrefix(p.ImportPath, module) && !strings.HasPrefix(p.ImportPath, "golang.org/x/") {
			t.Errorf("compact links %s: a user who only imports compact gets it too", p.ImportPath)
		}
	}
}
