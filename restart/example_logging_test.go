package restart_test

import (
	"log/slog"
	"os"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

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
