// Command mutator measures how much of a package its own tests notice. It changes comparisons, their bounds, the words
// "and" and "or", and sums and products, one at a time, and runs the tests of the package on each change:
//
//	go run ./.ci/mutator -n 150 ./restart
//
// All changes are compiled into one test binary, which takes the number of the change from the environment; so a change
// costs a run of the tests, and no build. The source is not touched: the changed files are an overlay of the build.
package main

import (
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
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: mutator [-n N] [-seed S] [-p P] [-least PERCENT] PACKAGE")
		os.Exit(2)
	}
	share, err := measure(flag.Arg(0), *n, *seed, *workers)
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
	args, limit, err := dryRun(binary, pkg.Dir)
	if err != nil {
		return 0, err
	}
	drawn := all
	if n > 0 && n < len(all) {
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		drawn = drawn[:n]
	}
	lived := survivors(drawn, workers, func(m mutant) bool {
		_, err := run(binary, pkg.Dir, args, m.id, limit)
		return err == nil
	})
	for _, m := range lived {
		fmt.Printf("%s: %s\n", m.where, m.what)
	}
	share := 100 * float64(len(drawn)-len(lived)) / float64(max(len(drawn), 1))
	fmt.Printf("%s: %d of %d changes (of %d in all) are noticed, %.1f %%\n",
		pkg.ImportPath, len(drawn)-len(lived), len(drawn), len(all), share)
	return share, nil
}

// dryRun runs the tests with no change on, and returns their arguments and a generous limit of time. Tests that fail are
// left out, and named: the switches may keep the compiler from what a test of allocations counts on.
func dryRun(binary, dir string) (args []string, limit time.Duration, err error) {
	var failed []string
	out, err := run(binary, dir, []string{"-test.short"}, 0, 10*time.Minute)
	for _, m := range failure.FindAllSubmatch(out, -1) {
		failed = append(failed, string(m[1]))
	}
	args = []string{"-test.short", "-test.failfast"}
	if err != nil && len(failed) > 0 {
		fmt.Printf("left out, since it fails with no change on: %s\n", strings.Join(failed, ", "))
		args = append(args, "-test.skip=^("+strings.Join(failed, "|")+")$")
	}
	began := time.Now()
	if out, err := run(binary, dir, args, 0, 10*time.Minute); err != nil {
		return nil, 0, fmt.Errorf("the tests fail with no change on: %w\n%s", err, out)
	}
	return args, 10*time.Since(began) + 10*time.Second, nil
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)

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
