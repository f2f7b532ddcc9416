package compare

import (
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// chained returns the sum of the jobs' times. A phase takes the time in the results. It begins as long after the last
// of its input phases as in the recording. A phase without input phases begins as in the recording.
func chained(phases []*sim.Phase, results []sim.Result) (sum time.Duration) {
	type span struct{ begin, end time.Duration }
	jobs := map[string]*span{}
	ends := make([]time.Duration, len(phases))
	for i, p := range phases {
		begin := p.Begins
		if lag, after, known := lastRead(phases, ends, p); known {
			begin = max(0, after+lag)
		}
		ends[i] = begin + results[i].Time
		key := p.Log + "\x00" + p.Job
		if j := jobs[key]; j != nil {
			j.begin, j.end = min(j.begin, begin), max(j.end, ends[i])
		} else {
			jobs[key] = &span{begin, ends[i]}
		}
	}
	for _, j := range jobs {
		sum += j.end - j.begin
	}
	return sum
}

// lastRead returns when the last input phase of p ends now, and the time between its end and the beginning of p in
// the recording. The time is negative if p began before its input was complete. Input phases are before p in the
// list.
func lastRead(phases []*sim.Phase, ends []time.Duration, p *sim.Phase) (lag, after time.Duration, known bool) {
	recorded := time.Duration(0)
	for _, d := range p.DependsOn {
		recorded = max(recorded, phases[d].Begins+phases[d].Recorded)
		after = max(after, ends[d])
		known = true
	}
	return p.Begins - recorded, after, known
}

// Chained returns the number of phases with known input phases.
func Chained(phases []*sim.Phase) (n int) {
	for _, p := range phases {
		if len(p.DependsOn) > 0 {
			n++
		}
	}
	return n
}
