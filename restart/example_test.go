package restart_test

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
)

// What should the host do about a running task? The host knows how long the attempt still needs, and how long similar
// tasks took.
func ExampleDecide() {
	var took estimate.Empirical
	for _, seconds := range []float64{28, 30, 31, 35} {
		took.Insert(seconds)
	}
	phase := restart.Phase{Interval: 10 * time.Second, Waiting: 40} // tasks wait for slots

	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: 20 * time.Second, Remaining: 25 * time.Second}},
		Fresh:    estimate.Fresh{UnitTime: &took, Work: 1},
	}
	fmt.Println(restart.Decide(task, phase))

	task.Attempts[0].Remaining = 2 * time.Minute
	d := restart.Decide(task, phase)
	fmt.Println(d)
	switch d.Action {
	case restart.Copy:
		fmt.Println("launch a copy, not on machine", d.Avoid.At(0))
	case restart.Restart:
		fmt.Println("kill attempt", d.Attempt, "and run the task again, not on machine", d.Avoid.At(0))
	}
	// Output:
	// keep not-slow remaining=25s fresh=31s slot-seconds=37.5 threshold=66.5
	// restart fresh-sooner attempt=0 remaining=120s fresh=31s slot-seconds=180 threshold=46.5 gain=89s avoid=7
	// kill attempt 0 and run the task again, not on machine 7
}

// Any distribution of gonum can be the time of a new attempt.
func ExampleMantri_logNormal() {
	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: time.Minute, Remaining: 40 * time.Second}},
		Fresh:    estimate.Fresh{UnitTime: distuv.LogNormal{Mu: 3, Sigma: 1}, Work: 1}, // median 20 s, mean 33 s
	}
	// By the mean of t_new, Mantri would wait. But half of all new attempts would take less than half of the
	// remaining time.
	fmt.Println(restart.Mantri{}.Decide(task, restart.Phase{Interval: 10 * time.Second, Waiting: 40}))
	// Output:
	// copy saves-resources remaining=40s fresh=33.1155s bar=43.1155s probability=0.498297 threshold=0.25 gain=6.88455s avoid=7
}

// A slot is free. Which task should get it?
func ExampleNext() {
	took := estimate.Fresh{UnitTime: distuv.Uniform{Min: 20, Max: 40}, Work: 1}
	running := []restart.Task{
		{Attempts: []restart.Attempt{{Machine: 0, Elapsed: time.Minute, Remaining: 80 * time.Second}}, Fresh: took},
		{Attempts: []restart.Attempt{{Machine: 1, Elapsed: time.Minute, Remaining: 300 * time.Second}}, Fresh: took},
		{Attempts: []restart.Attempt{{Machine: 2, Elapsed: time.Minute, Remaining: 5 * time.Second}}, Fresh: took},
	}
	phase := restart.Phase{Interval: 10 * time.Second, FreeSlots: 1}
	i, d := restart.Next(restart.Mantri{}, running, nil, phase)
	fmt.Println("task", i, d)

	// While tasks wait, only a copy that saves resources goes before them. Otherwise the largest waiting task is first.
	waiting := []float64{128, 512, 256} // megabytes
	phase.Waiting = len(waiting)
	i, d = restart.Next(restart.Mantri{}, running[2:], waiting, phase)
	fmt.Println("task", i, d)
	// Output:
	// task 1 copy idle-slot remaining=300s fresh=30s bar=60s gain=270s avoid=1
	// task 1 start largest-work
}

// LATE's heuristic misjudges tasks that change their speed. With an estimate by subphases it judges them well [LATE
// §4.2].
func ExampleNext_late() {
	// Both tasks do the first half of their score at 5 % a second, and the second half at 1 %. The older task began
	// ten seconds earlier.
	older := []estimate.Subphase{
		{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, Score: 0.1, Age: 10 * time.Second},
	}
	younger := []estimate.Subphase{{Weight: 0.5, Score: 0.5, Age: 10 * time.Second}, {Weight: 0.5, PeerRate: 0.01}}
	running := []restart.Task{
		{Attempts: []restart.Attempt{{Machine: 0, Elapsed: 20 * time.Second, Score: 0.6, Remaining: estimate.TimeLeftBySubphase(older)}}},
		{Attempts: []restart.Attempt{{Machine: 1, Elapsed: 10 * time.Second, Score: 0.5, Remaining: estimate.TimeLeftBySubphase(younger)}}},
	}
	phase := restart.Phase{Slots: 20, FreeSlots: 1}
	for _, aware := range []bool{false, true} {
		late := rules.LATE{MinAge: restart.Off, SlowTask: restart.Off, UseRemaining: aware}
		i, d := restart.Next(late, running, nil, phase)
		fmt.Println("task", i, d)
	}
	// Output:
	// task 0 copy longest-to-end remaining=13.3333s gain=13.3333s avoid=0
	// task 1 copy longest-to-end remaining=50s gain=50s avoid=1
}

// A decision logs as structured fields, with every number that it used.
func ExampleDecision_LogValue() {
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{} // the time would change the output
			}
			return a
		},
	}))
	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: 20 * time.Second, Remaining: 2 * time.Minute}},
		Fresh:    estimate.Fresh{UnitTime: distuv.Uniform{Min: 20, Max: 40}, Work: 1},
	}
	phase := restart.Phase{Interval: 10 * time.Second, Waiting: 40}
	log.Info("straggler", "task", 12, "decision", restart.Decide(task, phase))
	task.Restarts = 3
	log.Info("straggler", "task", 12, "decision", restart.Decide(task, phase))
	// Output:
	// level=INFO msg=straggler task=12 decision.action=restart decision.reason=fresh-sooner decision.attempt=0 decision.remaining=120 decision.fresh=30 decision.measure=slot-seconds decision.value=180 decision.threshold=45 decision.gain=90 decision.avoid="[7]"
	// level=INFO msg=straggler task=12 decision.action=copy decision.reason=saves-resources decision.remaining=120 decision.fresh=30 decision.measure=slot-seconds decision.value=180 decision.threshold=75 decision.gain=90 decision.avoid="[7]"
}

// A task resumes from a checkpoint. A new attempt has only the rest of the work to do. The running attempt is judged
// by the work that it has done since it began.
func ExampleDecide_checkpoint() {
	var took estimate.Empirical // seconds that whole tasks took
	for _, seconds := range []float64{95, 100, 105} {
		took.Insert(seconds)
	}
	const saved = 0.75 // share of the work that the checkpoint has
	task := restart.Task{
		Attempts: []restart.Attempt{{Machine: 7, Elapsed: 3 * time.Minute, Remaining: time.Minute, Done: 0.75}},
		Fresh:    estimate.Fresh{UnitTime: &took, Work: 1 - saved, Lag: 5 * time.Second}, // the lag is the time to load the checkpoint
	}
	fmt.Println(restart.Decide(task, restart.Phase{Interval: 10 * time.Second, Waiting: 40}))
	// Output:
	// restart fresh-sooner attempt=0 remaining=60s fresh=30s slot-seconds=90 threshold=45 gain=30s avoid=7
}
