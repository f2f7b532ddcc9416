package compare

import (
	"slices"
	"strings"
	"time"

	"github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/rules"
	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/sim"
)

// learns reports whether the decisions of the policy in a phase depend on what earlier phases have shown.
func (e Entry) learns() bool { return !e.Clones && rules.Describe(e.Policy).Has(rules.Left) }

// kindOf returns the kind of a phase, whose phases share the shape of progress: "reduces" for the reduces of a log,
// "others" for all others.
func kindOf(p *sim.Phase) string {
	if strings.HasSuffix(p.Name, "reduces") {
		return "reduces"
	}
	return "others"
}

// newKnowledge returns the knowledge of the phases of a log. It has the shape of progress alone: the jobs of a log do not
// do the same work, and each phase has its own numbers of machines.
func newKnowledge() (*tracker.Knowledge, error) {
	return tracker.NewKnowledge(tracker.KnowledgeConfig{
		Keep: restart.Off, Machines: machines.Config{MaxMachines: restart.Off},
	})
}

// Again returns the options for a further replay of a phase, with the knowledge that the phase had in the result r.
func (e Entry) Again(p *sim.Phase, seed uint64, id int, r sim.Result) (sim.Options, error) {
	o := e.Options(seed, id)
	if r.Known == nil {
		return o, nil
	}
	o.Knowledge, o.Kind = new(tracker.Knowledge), kindOf(p)
	return o, o.Knowledge.UnmarshalBinary(r.Known)
}

// replayInOrder replays the phases in the order of their beginnings. Each phase knows the shape of progress of all
// phases of its kind that began earlier, even if they had not ended. This is like a cluster that ran before the log
// began.
func replayInOrder(phases []*sim.Phase, e Entry, seed uint64, step func()) ([]sim.Result, time.Duration, error) {
	begin := time.Now()
	know, err := newKnowledge()
	if err != nil {
		return nil, 0, err
	}
	results := make([]sim.Result, len(phases))
	kept := make([]int, 0, mostKept+1)
	for _, i := range byBegin(phases) {
		known, err := know.MarshalBinary()
		if err != nil {
			return nil, 0, err
		}
		o := e.Options(seed, i)
		o.Knowledge, o.Kind = know, kindOf(phases[i])
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
