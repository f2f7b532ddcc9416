// Command demo starts a Slurm cluster of four nodes on this host, counts words in 64 tasks on it under several
// policies, and prints the time under each policy. It needs root, and Debian's packages slurm-wlm and munge.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/straggler-go/straggler/examples/kit"
	"github.com/straggler-go/straggler/examples/slurm/internal/cluster"
)

//go:embed wordcount.sh
var script []byte

func main() {
	var c kit.Choice
	c.Flags(flag.CommandLine)
	only := flag.Bool("cluster", false, "start the cluster and keep it until Ctrl-C, without running a job")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := demo(ctx, c, *only); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		stop()
		os.Exit(1)
	}
}

func demo(ctx context.Context, choice kit.Choice, only bool) error {
	picked, err := kit.Pick(choice.Scenarios, scenarios, func(s scenario) string { return s.name })
	if err != nil {
		return err
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
		return err // the directory stays, because the error names the logs in it
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
	for _, s := range picked {
		if err := s.compare(ctx, c, filepath.Join(dir, "job"), choice); err != nil {
			return fmt.Errorf("%s, %w", s.name, err)
		}
	}
	return nil
}

func startCluster(ctx context.Context, dir string) (*cluster.Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return cluster.Start(ctx, cluster.Config{Dir: dir, Nodes: 4, CPUs: 16, NodeTimeout: 10 * time.Second})
}

// keep prints how to use the cluster, and keeps the cluster until the context ends.
func keep(ctx context.Context, c *cluster.Cluster) {
	fmt.Printf("Four nodes are up. In another terminal:\n\n  export SLURM_CONF=%s\n  sinfo\n\n", c.Conf())
	fmt.Print("To let a node die, kill its process:\n\n")
	for _, node := range c.Nodes() {
		fmt.Printf("  kill -9 %d    # %s\n", c.PID(node), node)
	}
	fmt.Println("\nCtrl-C stops the cluster.")
	<-ctx.Done()
}
