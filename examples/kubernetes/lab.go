package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/straggler-go/straggler/examples/kubernetes/internal/node"
	"github.com/straggler-go/straggler/examples/kubernetes/internal/plane"
)

const (
	nodeCount = 4
	slots     = 4
)

// lab is a cluster on this machine.
type lab struct {
	dir   string
	plane *plane.Plane
	nodes []*node.Node
	ctx   context.Context // the nodes end with it
	made  int             // number of nodes that were ever started
	trial int
}

// newLab starts a cluster of four nodes of four slots.
func newLab(ctx context.Context) (*lab, error) {
	dir, err := os.MkdirTemp("", "straggler-kubernetes-")
	if err != nil {
		return nil, err
	}
	l := &lab{dir: dir, ctx: ctx}
	if l.plane, err = plane.Start(ctx, dir); err != nil {
		return nil, err
	}
	return l, l.resize(ctx, nodeCount)
}

// resize adds nodes, or removes the last nodes, until the cluster has the given number.
func (l *lab) resize(ctx context.Context, count int) error {
	for len(l.nodes) > count {
		last := l.nodes[len(l.nodes)-1]
		last.Die()
		if err := last.Remove(ctx); err != nil {
			return err
		}
		l.nodes = l.nodes[:len(l.nodes)-1]
	}
	for len(l.nodes) < count {
		l.nodes = append(l.nodes, nil)
		if err := l.start(len(l.nodes) - 1); err != nil {
			return err
		}
	}
	return l.ready(ctx)
}

func (l *lab) stop() {
	l.plane.Stop()
	os.RemoveAll(l.dir)
}

// start starts a node in a place of the list. Each started node has its own name.
func (l *lab) start(i int) error {
	l.nodes[i] = node.New(l.plane.Client, fmt.Sprintf("n%d", l.made), slots, "API="+l.plane.Config.Host, "OUT="+l.out(),
		"KUBECONFIG="+l.plane.Kubeconfig)
	l.made++
	return l.nodes[i].Start(l.ctx)
}

// replace removes a dead node and adds a new node.
func (l *lab) replace(ctx context.Context, i int) error {
	if err := l.nodes[i].Remove(ctx); err != nil {
		return err
	}
	if err := l.start(i); err != nil {
		return err
	}
	return l.ready(ctx)
}

// out is the directory of the results.
func (l *lab) out() string { return filepath.Join(l.dir, "out") }

// ready waits until pods can run on all nodes.
func (l *lab) ready(ctx context.Context) error {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		list, err := l.plane.Client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		free := 0
		for i := range list.Items {
			if len(list.Items[i].Spec.Taints) == 0 {
				free++
			}
		}
		if free == len(l.nodes) && len(list.Items) == free {
			return nil
		}
	}
	return fmt.Errorf("the nodes are not ready; the logs are in %s", l.dir)
}
