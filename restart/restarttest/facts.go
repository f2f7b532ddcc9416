package restarttest

import (
	"fmt"
	"io"
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/restart"
)

// describe writes the facts that a policy received, and the policy's decision. Four facts are left out if they are
// not set: the resumed work, the location factor, the time since the last copy, and the progress of the machine that
// asks.
func describe(w io.Writer, t restart.Task, p restart.Phase, d restart.Decision) {
	fmt.Fprintf(w, "  the policy answered %s\n", d)
	for i, a := range t.Attempts {
		fmt.Fprintf(w, "    attempt %d: machine=%d elapsed=%v remaining=%s score=%.6g done=%.6g",
			i, a.Machine, a.Elapsed, duration(a.Remaining), a.Score, a.Done)
		if a.Resumed != 0 {
			fmt.Fprintf(w, " resumed=%.6g", a.Resumed)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "    task:   work=%.6g fresh=%s restarts=%d", t.Work, duration(t.Fresh.Expected()), t.Restarts)
	if t.Fresh.Location != 0 {
		fmt.Fprintf(w, " location=%.6g", t.Fresh.Location)
	}
	if t.SinceCopy > 0 {
		fmt.Fprintf(w, " since-copy=%v", t.SinceCopy)
	}
	fmt.Fprintf(w, " past-machines=%v no-copy=%t no-restart=%t\n", t.PastMachines, t.NoCopy, t.NoRestart)
	fmt.Fprintf(w, "    phase:  interval=%v tasks=%d finished=%d waiting=%d slots=%d free=%d copies=%d machines=%d\n",
		p.Interval, p.Tasks, p.Finished, p.Waiting, p.Slots, p.FreeSlots, p.Copies, p.Machines)
	fmt.Fprintf(w, "    peers:  durations %s, unit times %s, progress rates %s, mean score %.6g, throughput %.6g\n",
		spread(p.Peers.Durations), spread(p.Peers.UnitTimes), spread(p.Peers.ProgressRates), p.Peers.MeanScore,
		p.Peers.Throughput)
	if p.Peers.Machine.Of != nil {
		fmt.Fprintf(w, "    asking: progress %.6g of %s\n", p.Peers.Machine.Total, spread(p.Peers.Machine.Of))
	}
}

// duration writes a duration. An unknown duration is written as "?".
func duration(d time.Duration) string {
	if d == estimate.Unknown {
		return "?"
	}
	return d.String()
}

// spread writes the lower quartile, the median and the upper quartile of a distribution.
func spread(d estimate.Distribution) string {
	if d == nil {
		return "unknown"
	}
	return fmt.Sprintf("%.6g/%.6g/%.6g", d.Quantile(0.25), d.Quantile(0.5), d.Quantile(0.75))
}
