package main

import (
	"context"
	"fmt"
	"time"

	"github.com/straggler-go/straggler/examples/slurm/internal/cluster"
)

// keepCluster runs a cluster to play with until it is interrupted.
func keepCluster(ctx context.Context, dir string) error {
	c, err := startCluster(ctx, dir)
	if err != nil {
		return err
	}
	defer c.Stop()
	fmt.Printf("Four nodes are up. In another terminal:\n\n  export SLURM_CONF=%s\n  sinfo\n\nA node dies with its process:\n\n", c.Conf())
	for _, node := range c.Nodes() {
		fmt.Printf("  kill -9 %d    # %s\n", c.PID(node), node)
	}
	fmt.Println("\nCtrl-C stops the cluster.")
	<-ctx.Done()
	return nil
}

func startCluster(ctx context.Context, dir string) (*cluster.Cluster, error) {
	if err := cluster.Available(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return cluster.Start(ctx, cluster.Config{Dir: dir, Nodes: 4, CPUs: 16, NodeTimeout: 10 * time.Second})
}
