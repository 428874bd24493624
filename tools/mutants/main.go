// Command mutants plants faults in packages, one at a time, and counts the faults
// that the tests detect. It prints the place and the change of each surviving
// fault: that code is either not tested or not needed.
//
//	go run ./tools/mutants -n 24 -seed 7 ./strategy ./policy
//	go run ./tools/mutants -n 0 -in 'ledger' -tests ./policy,./compact ./policy
//
// A fault is one operand of a condition removed, a condition that always or never
// holds, a bound moved by one, a comparison turned around, a statement or a field of a
// struct removed, or nil returned in place of an error.
// All faults are compiled into one test binary, and an environment variable switches
// one on (mutant schemata: Untch, Offutt, Harrold, ISSTA 1993). So a fault needs no
// build, and only the tests that reach it run.
//
// A surviving fault may have no visible effect (a capacity, a shortcut), so the
// figure is a lower bound of the faults that the tests detect.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	log.SetFlags(0)
	n := flag.Int("n", 24, "faults to plant, chosen at random; 0 plants all")
	seed := flag.Uint64("seed", 1, "seed of the random choice")
	in := flag.String("in", "", "only faults whose file matches this expression")
	with := flag.String("tests", "", "packages whose tests run, separated by commas (default: the packages that get faults)")
	jobs := flag.Int("jobs", runtime.GOMAXPROCS(0), "faults to test at the same time")
	slow := flag.Duration("slow", 20*time.Second, "tests that take longer than this are left out")
	flag.Parse()
	if flag.NArg() == 0 {
		log.Fatal("name packages: go run ./tools/mutants ./policy")
	}
	only, err := regexp.Compile(*in)
	if err != nil {
		log.Fatalf("-in: %v", err)
	}
	r := round{flag.Args(), tests(*with, flag.Args()), only, *n, *seed, *jobs, *slow}
	if err := r.run(); err != nil {
		log.Fatal(err)
	}
}

// A round is one run of the command.
type round struct {
	pkgs, tests []string
	in          *regexp.Regexp
	n           int
	seed        uint64
	jobs        int
	slow        time.Duration
}

func tests(with string, pkgs []string) []string {
	if with == "" {
		return pkgs
	}
	return strings.Split(with, ",")
}

func (r round) run() error {
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	faults, files, err := plant(r.pkgs)
	if err != nil {
		return err
	}
	bins, err := build(dir, files, r.tests)
	if err != nil {
		return err
	}
	list, err := baseline(dir, bins, len(faults), r.jobs, r.slow)
	if err != nil {
		return err
	}
	chosen := r.choose(faults)
	fmt.Printf("%d faults, %d of them planted, %d tests\n", len(faults), len(chosen), len(list))
	report(faults, chosen, try(list, chosen, r.jobs))
	return nil
}

func (r round) choose(faults []fault) []int {
	var chosen []int
	for _, i := range rand.New(rand.NewPCG(r.seed, 0)).Perm(len(faults)) {
		if r.in.MatchString(faults[i].file) && (r.n == 0 || len(chosen) < r.n) {
			chosen = append(chosen, i)
		}
	}
	slices.Sort(chosen)
	return chosen
}

// An outcome is the result of the tests for one fault.
type outcome struct {
	reached int // number of tests that run its code
	killer  string
	timeout bool
}

func try(list []*test, chosen []int, jobs int) map[int]outcome {
	var mu sync.Mutex
	var wg sync.WaitGroup
	out := map[int]outcome{}
	next := make(chan int)
	for range jobs {
		wg.Go(func() {
			for id := range next {
				o := attack(list, id)
				mu.Lock()
				out[id] = o
				mu.Unlock()
			}
		})
	}
	for _, id := range chosen {
		next <- id
	}
	close(next)
	wg.Wait()
	return out
}

func report(faults []fault, chosen []int, out map[int]outcome) {
	killed, timeouts, unreached := 0, 0, 0
	for _, id := range chosen {
		o := out[id]
		switch {
		case o.killer == "" && o.reached == 0:
			unreached++
			fmt.Printf("%s: not reached by a test\n", faults[id])
		case o.killer == "":
			fmt.Printf("%s: survived %d tests\n", faults[id], o.reached)
		default:
			killed++
		}
		if o.timeout {
			timeouts++
		}
	}
	fmt.Printf("killed %d of %d (%d by a timeout), survived %d, %d of these not reached by a test\n",
		killed, len(chosen), timeouts, len(chosen)-killed, unreached)
}
