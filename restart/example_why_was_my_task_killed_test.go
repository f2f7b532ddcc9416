package restart_test

import (
	"fmt"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// Why was my task killed? The example prints the lines of docs/why.md.
func Example_why() {
	// runs is an attempt that has run for some seconds, and needs about the given seconds more. In its phase attempts
	// take 90 to 110 s.
	runs := func(ran, left float64) restart.Attempt {
		return restart.Attempt{
			Elapsed: time.Duration(ran * 1e9), Remaining: time.Duration(left * 1e9), Done: ran / (ran + left),
			Left: distuv.Uniform{Min: left * .9, Max: left * 1.1}, Basis: restart.ByProgress,
		}
	}
	ask := func(p restart.Phase, attempts ...restart.Attempt) {
		task := restart.Task{Attempts: attempts, Fresh: estimate.Fresh{UnitTime: distuv.Uniform{Min: 90, Max: 110}, Work: 1}}
		d := restart.Decide(task, p)
		fmt.Println(d)
		fmt.Println(d.Sentence())
	}
	phase := restart.Phase{Interval: 10 * time.Second, Tasks: 60, Waiting: 20, Slots: 20, FreeSlots: 1}
	ask(phase, runs(100, 900))

	ask(phase, runs(130, 870), runs(30, 70))
	ask(phase, runs(130, 870), runs(30, 970))

	won := phase
	won.Trials = restart.Trials{Won: 3}
	ask(won, runs(100, 900))

	ask(phase, runs(50, 60))
	full := phase
	full.Waiting, full.FreeSlots, full.Trials = 0, 0, restart.Trials{Won: 1, Lost: 2}
	ask(full, runs(20, 900))
	lost := phase
	lost.Trials = restart.Trials{Won: 2, Lost: 5, Cost: 1100 * time.Second}
	ask(lost, runs(100, 900))
	// Output:
	// copy saves-resources basis=progress remaining=900s fresh=100s slot-seconds=1350 threshold=530 gain=800s avoid=0
	// copied: it still needs 900 s, and a copy takes 100 s, so that the two probably use less in all; to let it run costs 22.5 min of slot time, and the cheapest change 530 s
	// kill copy-faster attempt=0 basis=progress remaining=70s fresh=100s saved-slot-seconds=70.842 threshold=20
	// killed: another attempt of the task is faster and will probably end first, so this one had bad luck or a slow machine; that saves 70.8 s of slot time, and must save 20 s
	// kill no-faster attempt=1 basis=progress remaining=870s fresh=100s saved-slot-seconds=869.916 threshold=20
	// killed: it is no faster than the older attempt, so the task is probably long by itself; that saves 870 s of slot time, and must save 20 s
	// restart fresh-sooner attempt=0 basis=progress remaining=900s fresh=100s slot-seconds=1350 threshold=285 won=3 tried=3 gain=800s avoid=0
	// restarted: it still needs 900 s, and a new attempt takes 100 s; to let it run costs 22.5 min of slot time, and the cheapest change 285 s
	// keep not-slow basis=progress remaining=60s fresh=100s slot-seconds=90 threshold=130
	// kept: it is not slow enough; to let it run costs 90 s of slot time, and the cheapest change 130 s
	// keep unproven basis=progress remaining=900s fresh=100s won-trials=1 threshold=4 won=1 tried=3
	// kept: earlier trials do not yet show that it would pay; 1 of the earlier trials won, and 4 must have
	// keep loss-bound basis=progress remaining=900s fresh=100s lost-slot-seconds=20 threshold=0 won=2 tried=7
	// kept: trials must not lose too much; this trial might lose 20 s of slot time, and trials may lose 0 s more
}
