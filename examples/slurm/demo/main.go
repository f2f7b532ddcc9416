// Command demo starts a Slurm cluster of four nodes on this host, runs a word count of 64 tasks on it under several
// policies, and prints how long each took. It needs root, and Debian's packages slurm-wlm and munge.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/straggler-go/straggler/examples/slurm/internal/cluster"
)

//go:embed wordcount.sh
var script []byte

func main() {
	runs := flag.Int("runs", 1, "how often to run each policy; the tables show medians")
	names := flag.String("scenarios", "", "some of slow, skew, death, with commas between them (default all)")
	only := flag.Bool("cluster", false, "only start the cluster, and keep it until Ctrl-C")
	verbose := flag.Bool("v", false, "print each decision")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := demo(ctx, *runs, *names, *only, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func demo(ctx context.Context, runs int, names string, only, verbose bool) error {
	picked, err := pick(strings.FieldsFunc(names, func(r rune) bool { return r == ',' }))
	if err != nil {
		return err
	}
	if runs < 1 {
		return fmt.Errorf("-runs is %d, want at least 1", runs)
	}
	if err := cluster.Available(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "straggler-slurm-")
	if err != nil {
		return err
	}
	c, err := startCluster(ctx, filepath.Join(dir, "cluster"))
	if err != nil && ctx.Err() == nil {
		return err // the directory stays, for the logs of which the error speaks
	}
	defer os.RemoveAll(dir)
	if err != nil {
		return err
	}
	defer c.Stop()
	if only {
		keep(ctx, c)
		return nil
	}
	log := io.Discard
	if verbose {
		log = os.Stdout
	}
	results := make([]map[string][]outcome, len(picked))
	for i, s := range picked {
		results[i] = map[string][]outcome{}
		for n := range runs {
			for _, policy := range s.policies {
				o, err := s.run(ctx, c, filepath.Join(dir, "job"), policy, log)
				if err != nil {
					return fmt.Errorf("%s, %s: %w", s.name, policy, err)
				}
				results[i][policy] = append(results[i][policy], o)
				fmt.Printf("%s, %s, run %d: %v\n", s.name, policy, n+1, o.result)
				if o.problem != nil {
					fmt.Println("  WRONG:", o.problem)
				}
			}
		}
	}
	for i, s := range picked {
		table(os.Stdout, s, results[i])
	}
	return nil
}

func startCluster(ctx context.Context, dir string) (*cluster.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return cluster.Start(ctx, cluster.Config{Dir: dir, Nodes: 4, CPUs: 16, NodeTimeout: 10 * time.Second})
}

// keep keeps a cluster to play with.
func keep(ctx context.Context, c *cluster.Cluster) {
	fmt.Printf("Four nodes are up. In another terminal:\n\n  export SLURM_CONF=%s\n  sinfo\n\n", c.Conf())
	fmt.Print("A node dies with its process:\n\n")
	for _, node := range c.Nodes() {
		fmt.Printf("  kill -9 %d    # %s\n", c.PID(node), node)
	}
	fmt.Println("\nCtrl-C stops the cluster.")
	<-ctx.Done()
}
