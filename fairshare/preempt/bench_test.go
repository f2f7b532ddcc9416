package preempt

import (
	"fmt"
	"testing"
	"time"

	"github.com/straggler-go/straggler/fairshare"
)

func BenchmarkPlan(b *testing.B) {
	const pools, tasks = 1000, 100_000
	b.Run(fmt.Sprintf("pools=%d/tasks=%d", pools, tasks), func(b *testing.B) {
		flat := make([]fairshare.Pool, pools)
		usage := make([]int64, pools)
		running := make([]Task, tasks)
		for i := range flat {
			flat[i].Demand = 1000
		}
		for i := range running {
			running[i] = Task{Pool: i % (pools / 2), Started: time.Unix(int64(i*7919%tasks), 0)}
			usage[i%(pools/2)]++
		}
		if len(benchmarkPlan(b, flat, tasks, usage, running, Config{}, Waiting{}).Victims) == 0 {
			b.Fatal("the plan must have victims")
		}
	})
}

// BenchmarkPlanLargeTasks plans for thousands of claims. Each task is larger than any claim, and the parent of the
// task's pool cannot lose the units beyond the claim.
func BenchmarkPlanLargeTasks(b *testing.B) {
	const pools, tasks, slots = 10_000, 100_000, 4
	deep := make([]fairshare.Pool, pools)
	usage := make([]int64, pools)
	running := make([]Task, tasks)
	for i := 1; i < pools; i++ {
		deep[i] = fairshare.Pool{Parent: fairshare.Under(0), Demand: 2}
	}
	deep[1].Demand = slots * tasks
	usage[1] = slots * tasks
	for i := range running {
		running[i] = Task{Pool: 1, Slots: slots, Started: time.Unix(int64(i*7919%tasks), 0)}
	}
	b.Run(fmt.Sprintf("pools=%d/tasks=%d/floor=strict", pools, tasks), func(b *testing.B) {
		plan := benchmarkPlan(b, deep, slots*tasks, usage, running, Config{StrictFloor: true}, Waiting{})
		if len(plan.Victims) > 0 || len(plan.Claims) < pools/2 {
			b.Fatal("with a strict floor no task may be killed, because the parent cannot spare the rest")
		}
	})
	b.Run(fmt.Sprintf("pools=%d/tasks=%d/floor=crossed", pools, tasks), func(b *testing.B) {
		plan := benchmarkPlan(b, deep, slots*tasks, usage, running, Config{}, Waiting{})
		if len(plan.Victims) != pools/2-1 {
			b.Fatalf("the plan has %d victims, and each victim must serve two claims", len(plan.Victims))
		}
	})
}

// BenchmarkPlanSized plans for pools that wait for tasks of several units, anywhere or on one machine. Most of these
// pools get nothing.
func BenchmarkPlanSized(b *testing.B) {
	const pools, tasks = 1000, 100_000
	for _, w := range []Waiting{{Units: 4}, {Units: 4, OneMachine: true}, {Units: 1000, OneMachine: true}} {
		b.Run(fmt.Sprintf("pools=%d/tasks=%d/units=%d/one=%v", pools, tasks, w.Units, w.OneMachine), func(b *testing.B) {
			flat := make([]fairshare.Pool, pools)
			usage := make([]int64, pools)
			running := make([]Task, tasks)
			for i := range flat {
				flat[i].Demand = 1000
			}
			for i := range running {
				running[i] = Task{Pool: i % (pools / 2), Machine: i % 5000, Started: time.Unix(int64(i*7919%tasks), 0)}
				usage[i%(pools/2)]++
			}
			benchmarkPlan(b, flat, tasks, usage, running, Config{}, w)
		})
	}
}

// benchmarkPlan measures one plan. The second half of the pools waits to run tasks of size w.
func benchmarkPlan(
	b *testing.B, pools []fairshare.Pool, total int64, usage []int64, tasks []Task, config Config, w Waiting,
) (plan Plan) {
	tree, err := fairshare.New(pools, fairshare.Policy{})
	if err != nil {
		b.Fatal(err)
	}
	shares, err := tree.Shares(nil, nil, total)
	if err != nil {
		b.Fatal(err)
	}
	config.Cooldown = Off
	s, err := New(tree, config)
	if err != nil {
		b.Fatal(err)
	}
	for i := len(pools) / 2; i < len(pools); i++ {
		s.SetWaiting(i, w)
	}
	if err := s.Observe(time.Unix(0, 0), shares, usage); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		plan = s.Plan(time.Unix(7200, 0), tasks, nil)
	}
	return plan
}
