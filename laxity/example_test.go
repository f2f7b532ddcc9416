package laxity_test

import (
	"fmt"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/laxity"
)

const ms = time.Millisecond

func ExampleOrder() {
	jobs := []laxity.Job{
		{TimeLeft: 4000 * ms, Projected: 1500 * ms},
		{TimeLeft: 2000 * ms, Projected: 1900 * ms},
		{TimeLeft: 1000 * ms, Projected: 1200 * ms}, // expected to miss its deadline, so it must not cost others theirs
	}
	for _, i := range laxity.Order(jobs) {
		fmt.Println("job", i, "laxity", jobs[i].Laxity())
	}
	// Output:
	// job 1 laxity 100ms
	// job 0 laxity 2.5s
	// job 2 laxity -200ms
}

func ExampleProjected() {
	maps := []time.Duration{300 * ms, 900 * ms, 250 * ms}
	reduces := []time.Duration{700 * ms, 400 * ms}
	fmt.Println(laxity.Projected(maps, reduces))
	fmt.Println(laxity.Projected(maps, []time.Duration{estimate.Unknown}) == estimate.Unknown)
	// Output:
	// 1.6s
	// true
}

func ExampleQueue() {
	q, err := laxity.NewQueue(laxity.Policy{})
	if err != nil {
		fmt.Println(err)
		return
	}
	now := time.Unix(0, 0)
	tight := q.Push(now, laxity.Job{TimeLeft: 2000 * ms, Projected: 1500 * ms})
	loose := q.Push(now, laxity.Job{TimeLeft: 4000 * ms, Projected: 1500 * ms})

	now = now.Add(200 * ms)
	fmt.Println(q.Peek(now))
	// A task of the loose job turned out slow: the job needs much more.
	q.Update(now, loose, laxity.Job{TimeLeft: 3800 * ms, Projected: 3700 * ms})
	fmt.Println(q.Peek(now))
	// Nobody ran it in time.
	now = now.Add(200 * ms)
	fmt.Println(q.Peek(now))
	q.Remove(tight)
	fmt.Println(q.Peek(now))
	// Output:
	// least-laxity ticket=0 laxity=0.3s time-left=1.8s true
	// least-laxity ticket=1 laxity=0.1s time-left=3.8s true
	// least-laxity ticket=0 laxity=0.1s time-left=1.6s true
	// only-late ticket=1 laxity=-0.1s time-left=3.6s true
}

func ExampleQueue_Preempt() {
	q, _ := laxity.NewQueue(laxity.Policy{Margin: 100 * ms})
	now := time.Unix(0, 0)
	q.Push(now, laxity.Job{TimeLeft: 2000 * ms, Projected: 1000 * ms})
	for _, laxityOfRunning := range []time.Duration{900 * ms, 1050 * ms, 1150 * ms} {
		running := laxity.Job{TimeLeft: 3000 * ms, Projected: 3000*ms - laxityOfRunning}
		c, switches := q.Preempt(now, running)
		fmt.Println(laxityOfRunning, switches, c)
	}
	// Output:
	// 900ms false running-first
	// 1.05s false running-first
	// 1.15s true least-laxity ticket=0 laxity=1s time-left=2s
}

func ExampleOffload() {
	tasks := []laxity.Pending{
		{Started: true, Remaining: 200 * ms, TimeLeft: 1000 * ms, EndElsewhere: estimate.Unknown},
		{Remaining: 300 * ms, TimeLeft: 1000 * ms, EndElsewhere: 700 * ms},
		{Remaining: 600 * ms, TimeLeft: 1000 * ms, EndElsewhere: 900 * ms},
		{Remaining: 300 * ms, TimeLeft: 1200 * ms, EndElsewhere: 700 * ms},
	}
	for i, t := range laxity.Offload(nil, tasks) {
		fmt.Println("task", i, t)
	}
	// Output:
	// task 0 stay started
	// task 1 stay ends-in-time laxity=0.5s
	// task 2 move makes-room laxity=0.1s
	// task 3 stay ends-in-time laxity=0.4s
}

func ExamplePerWorker() {
	tasks := []laxity.Task{
		{Worker: 0, TimeLeft: 2000 * ms, Remaining: 150 * ms, After: 200 * ms},
		{Worker: 1, TimeLeft: 2000 * ms, Remaining: 1900 * ms, After: 200 * ms},
		{Worker: 0, TimeLeft: 2000 * ms, Remaining: 500 * ms, After: 200 * ms},
	}
	workers, err := laxity.PerWorker(tasks, 2)
	for i, w := range workers {
		fmt.Println("worker", i, "tasks", w.Tasks, "late", w.Late, "least laxity", w.Least, "of task", w.First)
	}
	fmt.Println(err)
	// Output:
	// worker 0 tasks 2 late 0 least laxity 1.3s of task 2
	// worker 1 tasks 1 late 1 least laxity -100ms of task 1
	// <nil>
}

// A host loop: two slots, and a job that takes longer than the others. Earliest deadline first starts the short jobs,
// whose deadlines come first, and the long one too late.
func Example_deadlines() {
	type job struct{ needs, deadline time.Duration }
	jobs := []job{{1000 * ms, 2000 * ms}, {1000 * ms, 2000 * ms}, {2000 * ms, 2200 * ms}}

	for _, rule := range []laxity.Rule{laxity.DeadlineFirst, laxity.NegativeLast} {
		q, _ := laxity.NewQueue(laxity.Policy{Rule: rule})
		start := time.Unix(0, 0)
		for _, j := range jobs { // tickets are 0, 1, 2
			q.Push(start, laxity.Job{TimeLeft: j.deadline, Projected: j.needs})
		}
		slots := []time.Duration{0, 0} // when each is free
		met := 0
		for q.Len() > 0 {
			slot := 0
			if slots[1] < slots[0] {
				slot = 1
			}
			next, _ := q.Pop(start.Add(slots[slot]))
			slots[slot] += jobs[next.Ticket].needs
			if slots[slot] <= jobs[next.Ticket].deadline {
				met++
			}
		}
		fmt.Println(rule, "meets", met, "of", len(jobs), "deadlines")
	}
	// Output:
	// deadline-first meets 2 of 3 deadlines
	// negative-last meets 3 of 3 deadlines
}
