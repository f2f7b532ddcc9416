// Command mutator measures how much of a package its own tests notice. It changes comparisons, their bounds, the words
// "and", "or" and "if", the larger and the smaller of two, and sums and products, one at a time. It runs the tests of the
// package on each change:
//
//	go run ./.ci/mutator -n 150 ./restart
//
// All changes are compiled into one test binary, which takes the number of the change from the environment; so a change
// costs no build. The fast tests run first, and the first test that fails ends the run. The source is not touched: the
// changed files are an overlay of the build.
//
//	go run ./.ci/mutator -papers -n 40 -seed 1
//
// changes the code that rows of docs/papers name, one change a row, and runs the tests that the row links.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

func main() {
	n := flag.Int("n", 150, "the `number` of changes to try, drawn at random; 0 for all")
	seed := flag.Uint64("seed", 1, "the `seed` of the draw")
	workers := flag.Int("p", 2, "the `number` of test runs at once")
	least := flag.Float64("least", 0, "fail if a smaller `percentage` is noticed")
	papers := flag.Bool("papers", false, "change the code that rows of docs/papers name, and run the tests that the rows link")
	flag.Parse()
	if flag.NArg() != 1 && !*papers || flag.NArg() > 0 && *papers {
		fmt.Fprintln(os.Stderr, "usage: mutator [-n N] [-seed S] [-p P] [-least PERCENT] PACKAGE\n"+
			"       mutator -papers [-n N] [-seed S] [-least PERCENT]")
		os.Exit(2)
	}
	var (
		share float64
		err   error
	)
	if *papers {
		share, err = measureRows(*n, *seed)
	} else {
		share, err = measure(flag.Arg(0), *n, *seed, *workers)
	}
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutator:", err)
		os.Exit(2)
	case share < *least:
		os.Exit(1)
	}
}

// measure prints the changes of a package that its tests do not notice, and returns the percentage that they do.
func measure(pattern string, n int, seed uint64, workers int) (float64, error) {
	dir, err := os.MkdirTemp("", "mutator")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	pkg, err := load(pattern)
	if err != nil {
		return 0, err
	}
	all, overlay, err := mutate(pkg, dir)
	if err != nil {
		return 0, err
	}
	binary := filepath.Join(dir, "tests")
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, pattern)
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("the changed package does not build: %w\n%s", err, out)
	}
	stages, err := dryRun(binary, pkg.Dir)
	if err != nil {
		return 0, err
	}
	drawn := all
	if n > 0 && n < len(all) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		drawn = drawn[:n]
	}
	lived := survivors(drawn, workers, func(m mutant) bool {
		for _, s := range stages {
			if _, err := run(binary, pkg.Dir, s.args, m.id, s.limit); err != nil {
				return false
			}
		}
		return true
	})
	for _, m := range lived {
		fmt.Printf("%s: %s\n", m.where, m.what)
	}
	share := 100 * float64(len(drawn)-len(lived)) / float64(max(len(drawn), 1))
	fmt.Printf("%s: %d of %d changes (of %d in all) are noticed, %.1f %%\n",
		pkg.ImportPath, len(drawn)-len(lived), len(drawn), len(all), share)
	return share, nil
}

// stage is a part of the tests, and a generous limit of the time that it takes.
type stage struct {
	args  []string
	limit time.Duration
}

// dryRun runs the tests with no change on, and divides them into stages by the time that each took. Most changes are
// noticed by tests that take milliseconds, and so cost no run of the tests that take seconds. Tests that fail are left
// out, and named: the switches may keep the compiler from what a test of allocations counts on.
func dryRun(binary, dir string) ([]stage, error) {
	out, err := run(binary, dir, []string{"-test.short", "-test.v"}, 0, 20*time.Minute)
	passed, failed := results(out)
	if err != nil && len(failed) == 0 || len(passed) == 0 {
		return nil, fmt.Errorf("the tests fail with no change on: %w\n%s", err, out)
	}
	if len(failed) > 0 {
		fmt.Printf("left out, since it fails with no change on: %s\n", strings.Join(failed, ", "))
	}
	var stages []stage
	begun := failed
	for i, names := range divide(passed) {
		args := []string{"-test.short", "-test.failfast", "-test.run=" + anyOf(names)}
		if i == lastStage { // and what has said nothing of its time
			args[2] = "-test.skip=" + anyOf(begun)
		}
		begun = append(begun, names...)
		since := time.Now()
		if out, err := run(binary, dir, args, 0, 20*time.Minute); err != nil {
			return nil, fmt.Errorf("some tests fail without the others, and no change on: %w\n%s", err, out)
		}
		stages = append(stages, stage{args, 10*time.Since(since) + 10*time.Second})
	}
	return stages, nil
}

func anyOf(tests []string) string { return "^(" + strings.Join(tests, "|") + ")$" }

// timed is a test, and how long it took.
type timed struct {
	name string
	took time.Duration
}

var result = regexp.MustCompile(`(?m)^--- (PASS|FAIL): (\w+) \(([0-9.]+s)\)$`)

func results(out []byte) (passed []timed, failed []string) {
	for _, m := range result.FindAllSubmatch(out, -1) {
		took, _ := time.ParseDuration(string(m[3]))
		if name := string(m[2]); string(m[1]) == "PASS" {
			passed = append(passed, timed{name, took})
		} else {
			failed = append(failed, name)
		}
	}
	return passed, failed
}

const lastStage = 2

// divide returns the names of the tests, the fastest first: those that take a twentieth of the time together, those that
// bring it to a quarter, and the rest.
func divide(tests []timed) (stages [lastStage + 1][]string) {
	slices.SortStableFunc(tests, func(a, b timed) int { return cmp.Compare(a.took, b.took) })
	var all, sum time.Duration
	for _, t := range tests {
		all += t.took
	}
	for _, t := range tests {
		sum += t.took
		at := lastStage
		switch {
		case sum <= all/20:
			at = 0
		case sum <= all/4:
			at = 1
		}
		stages[at] = append(stages[at], t.name)
	}
	return stages
}

// survivors returns the changes that live, in the order of the source.
func survivors(drawn []mutant, workers int, lives func(mutant) bool) (lived []mutant) {
	var (
		wait sync.WaitGroup
		lock sync.Mutex
		work = make(chan mutant)
	)
	for range max(workers, 1) {
		wait.Go(func() {
			for m := range work {
				if lives(m) {
					lock.Lock()
					lived = append(lived, m)
					lock.Unlock()
				}
			}
		})
	}
	for _, m := range drawn {
		work <- m
	}
	close(work)
	wait.Wait()
	slices.SortFunc(lived, func(a, b mutant) int { return a.id - b.id })
	return lived
}

// run runs the tests with one change; a run that takes longer than the limit is an endless loop, and so noticed.
func run(binary, dir string, args []string, id int, limit time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, binary, args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "MUTANT="+strconv.Itoa(id))
	return c.CombinedOutput()
}
