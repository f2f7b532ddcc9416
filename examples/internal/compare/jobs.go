package compare

import (
	"time"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// chained returns the sum of the jobs' times if each phase takes as long as it did in the results, and begins as long
// after the last of the phases whose output it reads as it did in the recording. A phase that reads no other's output
// begins when it did.
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

// lastRead returns when the last of the phases that p reads ends now, and how long after the last of them p began in the
// recording; a negative lag is a phase that began before its input was complete. Phases stand behind those that they read.
func lastRead(phases []*sim.Phase, ends []time.Duration, p *sim.Phase) (lag, after time.Duration, known bool) {
	recorded := time.Duration(0)
	for _, d := range p.DependsOn {
		recorded = max(recorded, phases[d].Begins+phases[d].Recorded)
		after = max(after, ends[d])
		known = true
	}
	return p.Begins - recorded, after, known
}

// Chained says in how many of the phases it is known which others' output they read.
func Chained(phases []*sim.Phase) (n int) {
	for _, p := range phases {
		if len(p.DependsOn) > 0 {
			n++
		}
	}
	return n
}
