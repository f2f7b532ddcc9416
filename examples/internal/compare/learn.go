package compare

import (
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// learns reports whether what a policy does in a phase depends on what earlier ones have shown.
func (e Entry) learns() bool { return !e.Clones && rules.Describe(e.Policy).Has(rules.Left) }

// kindOf tells the phases whose progress runs alike: the maps of a log and the reduces. All others are of one kind.
func kindOf(p *sim.Phase) string {
	if strings.HasSuffix(p.Name, "reduces") {
		return "reduces"
	}
	return ""
}

// replayInOrder replays the phases in the order in which they begin, and lets each know what those before it have
// shown of how the progress of its kind runs. That it knows it of all that began before it, not only of those that
// had ended, is as on a cluster that did not begin with this log.
func replayInOrder(phases []*sim.Phase, e Entry, seed uint64, step func()) ([]sim.Result, time.Duration, error) {
	begin := time.Now()
	kinds := map[string]*survival.Shape{}
	results := make([]sim.Result, len(phases))
	for _, i := range byBegin(phases) {
		kind := kindOf(phases[i])
		if kinds[kind] == nil {
			kinds[kind] = new(survival.Shape)
		}
		known := kinds[kind].Clone()
		o := e.Options(seed, i)
		o.Shape = kinds[kind]
		r, err := sim.Run(phases[i], o)
		if err != nil {
			return nil, 0, err
		}
		if e.keep == nil || e.keep[i] {
			r.Known = known
		}
		results[i] = r
		step()
	}
	return results, time.Since(begin), nil
}
