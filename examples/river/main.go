// Command river compares package riverqueue with plain River, and with a naive rule that copies once whatever runs over
// twice the median. It starts a Postgres and four workers as processes, and runs each scenario under each rule, in turn.
//
//	cd examples/river && go run . -runs 20
//
// Flags:
//
//   - -scenarios NAME,...: the scenarios to run; empty: all of them
//   - -runs N: how often
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/restart/engine/queue/queuetest"
)

func main() {
	names := flag.String("scenarios", "", "scenarios to run, with commas; empty: all")
	runs := flag.Int("runs", 3, "how often each scenario runs under each rule")
	number := flag.Int("worker", -1, "run as this worker")
	batch := flag.String("batch", "", "coordinate this batch")
	of := flag.String("of", "", "with -batch: the scenario")
	seed := flag.Uint64("seed", 1, "with -batch: the seed")
	url := flag.String("url", "", "with -worker and -batch: the address of Postgres")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch {
	case *number >= 0:
		err = work(ctx, *url, *number)
	case *batch != "":
		err = coordinate(ctx, *url, *batch, *of, *seed)
	default:
		err = compare(ctx, *names, *runs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

// rules are the columns of the tables.
var rules = []string{"plain", "naive", "straggler"}

// compare runs the scenarios, and prints a table.
func compare(ctx context.Context, names string, runs int) error {
	chosen, err := kit.Pick(names, scenarios(), func(s scenario) string { return s.name })
	if err != nil {
		return err
	}
	server, err := queuetest.StartPostgres()
	if err != nil {
		return err
	}
	defer server.Stop()
	st := &stage{url: server.URL}
	if err := st.start(ctx); err != nil {
		return err
	}
	defer st.end()
	fmt.Println("\n| scenario | plain, s | naive / plain | straggler / plain | straggler / naive | tasks lost |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, s := range chosen {
		took := map[string][]float64{}
		lost := map[string]int{}
		for seed := range runs {
			for _, rule := range rules {
				seconds, missing, err := st.run(ctx, s, rule, uint64(seed+1))
				if err != nil {
					return fmt.Errorf("%s, %s, run %d: %w", s.name, rule, seed+1, err)
				}
				fmt.Fprintf(os.Stderr, "%s, %s, run %d: %.1f s, %d lost\n", s.name, rule, seed+1, seconds, missing)
				took[rule], lost[rule] = append(took[rule], seconds), lost[rule]+missing
			}
		}
		plain, naive, straggler := took["plain"], took["naive"], took["straggler"]
		fmt.Printf("| %s | %.1f | %s | %s | %s | %d, %d, %d |\n", s.name, mean(plain), ratio(naive, plain), ratio(straggler, plain),
			ratio(straggler, naive), lost["plain"], lost["naive"], lost["straggler"])
	}
	return nil
}

func mean(all []float64) (m float64) {
	for _, x := range all {
		m += x / float64(len(all))
	}
	return m
}

// ratio returns the mean of the ratios of paired runs, with an interval of two standard errors if there are several.
func ratio(a, b []float64) string {
	var all []float64
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	m, v := mean(all), 0.
	if len(all) < 2 {
		return fmt.Sprintf("%.2f", m)
	}
	for _, x := range all {
		v += (x - m) * (x - m) / float64(len(all)-1)
	}
	return fmt.Sprintf("%.2f ± %.2f", m, 2*math.Sqrt(v/float64(len(all))))
}

// stage is a Postgres with workers.
type stage struct {
	url     string
	pool    *pgxpool.Pool
	workers [workers]*exec.Cmd
	batches int
}

func (st *stage) start(ctx context.Context) (err error) {
	if st.pool, err = pgxpool.New(ctx, st.url); err != nil {
		return err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(st.pool), &rivermigrate.Config{Logger: quiet})
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	_, err = st.pool.Exec(ctx, `CREATE TABLE demo_result (task integer PRIMARY KEY, took double precision)`)
	for i := 0; i < workers && err == nil; i++ {
		err = st.work(i)
	}
	time.Sleep(time.Second) // until the workers are there
	return err
}

// work starts a worker's process.
func (st *stage) work(i int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.Command(self, "-worker", fmt.Sprint(i), "-url", st.url)
	c.Stderr = os.Stderr
	st.workers[i] = c
	return c.Start()
}

func (st *stage) end() {
	for _, c := range st.workers {
		_ = c.Process.Signal(syscall.SIGCONT)
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	st.pool.Close()
}

// trouble stops or kills the last worker, as the scenario says.
func (st *stage) trouble(ctx context.Context, s scenario) {
	began := time.Now()
	until := func(d time.Duration) bool {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(d - time.Since(began)):
			return true
		}
	}
	last := workers - 1
	if s.stopped[1] > 0 && until(s.stopped[0]) {
		c := st.workers[last]
		_ = c.Process.Signal(syscall.SIGSTOP)
		until(s.stopped[1])
		_ = c.Process.Signal(syscall.SIGCONT)
	}
	if s.killed[1] > 0 && until(s.killed[0]) {
		_ = st.workers[last].Process.Kill()
		_ = st.workers[last].Wait()
		until(s.killed[1])
		if err := st.work(last); err != nil {
			fmt.Fprintln(os.Stderr, "river:", err)
		}
	}
}
