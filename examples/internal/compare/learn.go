package compare

import (
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate/survival"
	"github.com/straggler-go/straggler/restart/rules"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// learns reports whether the decisions of the policy in a phase depend on the experience of earlier phases.
func (e Entry) learns() bool { return !e.Clones && rules.Describe(e.Policy).Has(rules.Left) }

// kindOf returns the kind of a phase, whose phases share the shape of progress: "reduces" for the reduces of a log,
// "" for all others.
func kindOf(p *sim.Phase) string {
	if strings.HasSuffix(p.Name, "reduces") {
		return "reduces"
	}
	return ""
}

// replayInOrder replays the phases in the order of their beginnings. Each phase knows the shape of progress of all
// phases of its kind that began earlier, even if they had not ended. This is like a cluster that ran before the log
// began.
func replayInOrder(phases []*sim.Phase, e Entry, seed uint64, step func()) ([]sim.Result, time.Duration, error) {
	begin := time.Now()
	kinds := map[string]*survival.Shape{}
	results := make([]sim.Result, len(phases))
	kept := make([]int, 0, mostKept+1)
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
		r.Known = known
		results[i] = r
		if e.among != nil {
			kept = append(kept, i)
			slices.SortFunc(kept, e.among.ByChange(results))
			if len(kept) > mostKept {
				results[kept[mostKept]].Known = nil
				kept = kept[:mostKept]
			}
		}
		step()
	}
	return results, time.Since(begin), nil
}
