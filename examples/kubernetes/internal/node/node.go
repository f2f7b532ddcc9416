// Package node is a kubelet for a demonstration: it runs the first container of each pod as a process, says so in the
// pod's status, and keeps its node's lease. It needs no container, no cgroup and no root.
package node

import (
	"context"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"

	coordination "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// Node is a node of the cluster.
type Node struct {
	name   string
	slots  int
	client kubernetes.Interface
	env    []string
	cancel context.CancelFunc

	mu   sync.Mutex
	runs map[types.UID]*exec.Cmd
	slow float64 // 10: its processes are stopped for nine tenths of the time
	dead bool
}

// New returns a node on which so many pods of one CPU fit; env is what its processes get besides their own.
func New(client kubernetes.Interface, name string, slots int, env ...string) *Node {
	return &Node{name: name, slots: slots, client: client, env: env, runs: map[types.UID]*exec.Cmd{}}
}

// Start has the node join the cluster, until the context ends or it dies.
func (n *Node) Start(ctx context.Context) error {
	ctx, n.cancel = context.WithCancel(ctx)
	object, err := n.client.CoreV1().Nodes().Create(ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: n.name, Labels: map[string]string{v1.LabelHostname: n.name},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	object.Status, object.ResourceVersion = n.status(), "" // whatever the control plane has noted of it meanwhile
	if _, err = n.client.CoreV1().Nodes().UpdateStatus(ctx, object, metav1.UpdateOptions{}); err != nil {
		return err
	}
	go n.keepLease(ctx)
	go n.keepPace(ctx)
	rc := n.client.CoreV1().RESTClient()
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: cache.NewListWatchFromClient(rc, "pods", "", fields.OneTermEqualSelector("spec.nodeName", n.name)),
		ObjectType:    &v1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { n.see(ctx, o.(*v1.Pod)) },
			UpdateFunc: func(_, o any) { n.see(ctx, o.(*v1.Pod)) },
			DeleteFunc: func(o any) {
				if p, ok := o.(*v1.Pod); ok {
					n.kill(p.UID)
				}
			},
		},
	})
	go controller.Run(ctx.Done())
	return nil
}

func (n *Node) status() v1.NodeStatus {
	now := metav1.Now()
	has := v1.ResourceList{
		v1.ResourceCPU:    *resource.NewQuantity(int64(n.slots), resource.DecimalSI),
		v1.ResourceMemory: resource.MustParse("64Gi"),
		v1.ResourcePods:   *resource.NewQuantity(200, resource.DecimalSI),
	}
	return v1.NodeStatus{Capacity: has, Allocatable: has, Conditions: []v1.NodeCondition{{
		Type: v1.NodeReady, Status: v1.ConditionTrue, Reason: "KubeletReady", LastHeartbeatTime: now, LastTransitionTime: now,
	}}}
}

// Die ends the node without a word: its processes are gone, and nobody says so.
func (n *Node) Die() {
	n.mu.Lock()
	n.dead = true
	n.mu.Unlock()
	n.cancel()
	n.signal(syscall.SIGKILL)
}

// Remove takes a node that has died out of the cluster, as who looks after machines would.
func (n *Node) Remove(ctx context.Context) error {
	return n.client.CoreV1().Nodes().Delete(ctx, n.name, metav1.DeleteOptions{})
}

// Slow has the node's processes run so many times slower; 1 is as fast as ever.
func (n *Node) Slow(factor float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slow = factor
}

// keepLease renews the node's lease, so that it counts as alive.
func (n *Node) keepLease(ctx context.Context) {
	leases, seconds := n.client.CoordinationV1().Leases(v1.NamespaceNodeLease), int32(40)
	for ; ctx.Err() == nil; time.Sleep(5 * time.Second) {
		now := metav1.NewMicroTime(time.Now())
		spec := coordination.LeaseSpec{HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &now}
		lease, err := leases.Get(ctx, n.name, metav1.GetOptions{})
		if err == nil {
			lease.Spec = spec
			_, _ = leases.Update(ctx, lease, metav1.UpdateOptions{}) // or the next time
			continue
		}
		_, _ = leases.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{
			Name: n.name, Namespace: v1.NamespaceNodeLease}, Spec: spec}, metav1.CreateOptions{})
	}
}

// period is that of stopping and going on. It is longer than the workload sleeps, or sleeps would pass while it stands. A
// sleep that begins once a process goes on must not end before the process is stopped: two sleeps a period would make the
// node half as slow. So the process goes on for less than its part of the period.
const (
	period = 500 * time.Millisecond
	less   = 10 * time.Millisecond
)

// keepPace stops and continues the processes of a slow node.
func (n *Node) keepPace(ctx context.Context) {
	for ctx.Err() == nil {
		n.mu.Lock()
		slow := max(n.slow, 1)
		n.mu.Unlock()
		on := time.Duration(float64(period)/slow) - less
		time.Sleep(on)
		if slow > 1 {
			n.signal(syscall.SIGSTOP)
			time.Sleep(period - on)
			n.signal(syscall.SIGCONT)
		}
	}
	n.signal(syscall.SIGKILL)
}

func (n *Node) signal(s syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.runs {
		_ = syscall.Kill(-c.Process.Pid, s) // it may have ended
	}
}

func (n *Node) kill(pod types.UID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c := n.runs[pod]; c != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
	}
}

func (n *Node) String() string { return fmt.Sprintf("%s with %d slots", n.name, n.slots) }
