// Package node simulates a kubelet for a demonstration. It runs the first container of each pod as a process, writes
// the status of the pod, and renews the lease of its node. It needs no container runtime, no cgroup and no root.
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
	slow float64 // factor; for 10, the processes are stopped for nine tenths of the time
	dead bool
}

// New returns a node with room for a number of pods of one CPU each. Its processes get the environment env, too.
func New(client kubernetes.Interface, name string, slots int, env ...string) *Node {
	return &Node{name: name, slots: slots, client: client, env: env, runs: map[types.UID]*exec.Cmd{}}
}

// Start adds the node to the cluster, until the context ends or the node dies.
func (n *Node) Start(ctx context.Context) error {
	ctx, n.cancel = context.WithCancel(ctx)
	object, err := n.client.CoreV1().Nodes().Create(ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: n.name, Labels: map[string]string{v1.LabelHostname: n.name},
	}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	object.Status, object.ResourceVersion = n.status(), "" // overwrites changes of the control plane since then
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

// Die ends the node without a message: its processes are killed, and the control plane is not told.
func (n *Node) Die() {
	n.mu.Lock()
	n.dead = true
	n.mu.Unlock()
	n.cancel()
	n.signal(syscall.SIGKILL)
}

// Remove removes a dead node from the cluster, as an administrator would.
func (n *Node) Remove(ctx context.Context) error {
	return n.client.CoreV1().Nodes().Delete(ctx, n.name, metav1.DeleteOptions{})
}

// Slow makes the processes of the node slower by a factor; 1 is full speed.
func (n *Node) Slow(factor float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.slow = factor
}

// keepLease renews the lease of the node, so that the control plane takes the node for alive.
func (n *Node) keepLease(ctx context.Context) {
	leases, seconds := n.client.CoordinationV1().Leases(v1.NamespaceNodeLease), int32(40)
	for ; ctx.Err() == nil; time.Sleep(5 * time.Second) {
		now := metav1.NewMicroTime(time.Now())
		spec := coordination.LeaseSpec{HolderIdentity: &n.name, LeaseDurationSeconds: &seconds, RenewTime: &now}
		lease, err := leases.Get(ctx, n.name, metav1.GetOptions{})
		if err == nil {
			lease.Spec = spec
			_, _ = leases.Update(ctx, lease, metav1.UpdateOptions{}) // after an error, the next renewal follows soon
			continue
		}
		_, _ = leases.Create(ctx, &coordination.Lease{ObjectMeta: metav1.ObjectMeta{
			Name: n.name, Namespace: v1.NamespaceNodeLease}, Spec: spec}, metav1.CreateOptions{})
	}
}

// period is the time from one stop of a slow process to the next. It is longer than a sleep of the workload, or a
// sleep would end while the process is stopped, and cost nothing. At most one sleep may end in each period, or the
// node would be only half as slow. So the process runs for less than its share of the period.
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
		_ = syscall.Kill(-c.Process.Pid, s) // the process may have ended
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
