package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// switches is the package that tells the faults whether they are on. It is added by an
// overlay. The faults that were reached are written to a file, so that they are known
// even if the process is killed.
const switches = `package mutant

import (
	"os"
	"strconv"
	"syscall"
)

var (
	active  = -1
	reached []byte
)

func init() {
	if id, err := strconv.Atoi(os.Getenv("MUTANT")); err == nil {
		active = id
	}
	f, err := os.OpenFile(os.Getenv("MUTANTS_REACHED"), os.O_RDWR, 0)
	if err != nil {
		return
	}
	if i, err := f.Stat(); err == nil && i.Size() > 0 {
		reached, _ = syscall.Mmap(int(f.Fd()), 0, int(i.Size()), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	f.Close()
}

// At reports whether fault id is switched on.
func At(id int) bool {
	if reached != nil {
		reached[id] = 1
	}
	return id == active
}

// Zero returns the zero value in place of v if fault id is switched on.
func Zero[T any](id int, v T) T {
	if At(id) {
		var none T
		return none
	}
	return v
}
`

// A test is one test of one binary.
type test struct {
	binary
	name    string
	took    time.Duration
	reached []byte // by fault
	why     string // reason to leave it out
}

type binary struct{ path, dir, pkg string }

// build compiles the tests of pkgs with the faults in them.
func build(dir string, files map[string][]byte, pkgs []string) ([]binary, error) {
	overlay := map[string]string{}
	add := func(name string, text []byte) error {
		to := filepath.Join(dir, fmt.Sprintf("%d.go", len(overlay)))
		overlay[name] = to
		return os.WriteFile(to, text, 0o600)
	}
	for name, text := range files {
		if err := add(name, text); err != nil {
			return nil, err
		}
	}
	all, err := list(pkgs...)
	if err != nil {
		return nil, err
	}
	if err := add(filepath.Join(all[0].Module.Dir, "internal/mutant/mutant.go"), []byte(switches)); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o600); err != nil {
		return nil, err
	}
	var bins []binary
	for i, p := range all {
		b := binary{filepath.Join(dir, fmt.Sprintf("%d.test", i)), p.Dir, p.ImportPath}
		cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(dir, "overlay.json"), "-o", b.path, p.ImportPath)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", p.ImportPath, err, out)
		}
		if _, err := os.Stat(b.path); err == nil { // a package may have no tests
			bins = append(bins, b)
		}
	}
	return bins, nil
}

// baseline runs each test alone, without a fault, and records which faults it reaches.
func baseline(dir string, bins []binary, n, jobs int, slow time.Duration) ([]*test, error) {
	var all []*test
	for _, b := range bins {
		cmd := exec.Command(b.path, "-test.list", ".")
		cmd.Dir = b.dir
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list the tests of %s: %w", b.pkg, err)
		}
		for _, name := range strings.Fields(string(out)) {
			if strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Example") || strings.HasPrefix(name, "Fuzz") {
				all = append(all, &test{binary: b, name: name})
			}
		}
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range jobs {
		wg.Go(func() {
			for i := range next {
				all[i].measure(filepath.Join(dir, fmt.Sprintf("reached.%d", i)), n, slow)
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	wg.Wait()
	for _, t := range all {
		if t.why != "" {
			fmt.Printf("left out: %s %s: %s\n", t.pkg, t.name, t.why)
		}
	}
	return slices.DeleteFunc(all, func(t *test) bool { return t.why != "" }), nil
}

func (t *test) measure(file string, n int, slow time.Duration) {
	if err := os.WriteFile(file, make([]byte, max(n, 1)), 0o600); err != nil {
		t.why = err.Error()
		return
	}
	defer os.Remove(file)
	began := time.Now()
	out, err := t.run(slow+5*time.Second, "MUTANTS_REACHED="+file, t.name)
	t.took = time.Since(began)
	switch {
	case t.took > slow:
		t.why = fmt.Sprintf("it takes longer than %v", slow)
	case err != nil:
		t.why = "it fails without a fault: " + lastLine(out)
	}
	t.reached, _ = os.ReadFile(file)
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// run runs tests of the binary until one fails.
func (b binary) run(limit time.Duration, env string, names ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	// Without a timeout for the test binary, an endless loop would outlive this command.
	cmd := exec.CommandContext(ctx, b.path, "-test.failfast", "-test.timeout", (2 * limit).String(), "-test.run", "^("+strings.Join(quoted, "|")+")$")
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), env)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	return out, err
}

// attack switches a fault on and runs the tests that reach it, the fastest first.
func attack(all []*test, id int) outcome {
	var o outcome
	var mine []*test
	for _, t := range all {
		if t.reached[id] != 0 {
			mine = append(mine, t)
		}
	}
	o.reached = len(mine)
	slices.SortStableFunc(mine, func(a, b *test) int { return int(a.took - b.took) })
	for len(mine) > 0 {
		var sum time.Duration
		var names []string
		rest := mine[:0:0]
		for _, t := range mine {
			if t.binary == mine[0].binary && len(names) < 300 && (len(names) == 0 || sum+t.took < 3*time.Second) {
				names, sum = append(names, t.name), sum+t.took
			} else {
				rest = append(rest, t)
			}
		}
		if out, err := mine[0].run(20*time.Second+5*sum, fmt.Sprintf("MUTANT=%d", id), names...); err != nil {
			o.killer, o.timeout = lastLine(out)+err.Error(), err == context.DeadlineExceeded
			return o
		}
		mine = rest
	}
	return o
}
