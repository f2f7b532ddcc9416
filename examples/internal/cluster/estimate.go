package cluster

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/knn"
	machinerecord "github.com/straggler-go/straggler/estimate/machines"
	"github.com/straggler-go/straggler/restart/tracker"
)

// machineSpeeds is what the phases learn together of how slow each machine is, by package estimate/machines.
type machineSpeeds struct{ record tracker.MachineRecord }

func newMachineSpeeds(s *sim) (*machineSpeeds, error) {
	if !s.c.LearnMachines {
		return &machineSpeeds{}, nil
	}
	record, err := machinerecord.New(machinerecord.Config{})
	return &machineSpeeds{record}, err
}

// factor is how much slower than usual a machine is; 1 if nothing is known.
func (m *machineSpeeds) factor(machine int32) float64 {
	if m.record == nil {
		return 1
	}
	return m.record.Factor(int(machine))
}

// forecast says how long a task will take before anything of its phase has run, by package estimate/knn: from those
// past runs, of whatever job, that had most nearly as much to do and to read.
type forecast struct {
	runs       [kinds]*knn.Regressor
	prediction knn.Prediction
	task       [2]float64
}

// newForecast returns nil, which knows nothing, if it is not asked for.
func newForecast(s *sim) (*forecast, error) {
	if s.c.Forecast == nil {
		return nil, nil
	}
	f := &forecast{}
	for k := range f.runs {
		config := *s.c.Forecast
		config.Dimensions = len(f.task)
		var err error
		if f.runs[k], err = knn.New(config); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// ended adds the run that has ended a task. One that was killed has not shown how long it takes.
func (f *forecast) ended(s *sim, c *copyOf) {
	if f != nil {
		t := s.taskFacts(c.task)
		if err := f.runs[c.kind].Observe([]float64{workOf(t), t.Bytes}, (s.now - c.begun).Seconds()); err != nil {
			s.err = err
		}
	}
}

// of returns how long a task is expected to take; estimate.Unknown if there were no runs.
func (f *forecast) of(kind Kind, t *Task) time.Duration {
	if f == nil {
		return estimate.Unknown
	}
	f.task = [2]float64{workOf(t), t.Bytes}
	if f.runs[kind].Predict(&f.prediction, f.task[:]) != nil || !f.prediction.Known() {
		return estimate.Unknown
	}
	return time.Duration(f.prediction.Mean() * float64(time.Second))
}

// project works out what a phase's longest task is expected to take: as its job comes, and again as the phase begins.
func (f *forecast) project(s *sim, id int32) {
	if f == nil {
		return
	}
	p := &s.phases[id]
	p.projected = 0
	for i := range p.facts.Tasks {
		p.projected = max(p.projected, f.of(p.facts.Kind, &p.facts.Tasks[i]))
	}
	if s.explained(p.job) && p.projected > 0 {
		s.tell(p.job, "phase %d: its longest task takes %v by the %d runs most like it", id-s.jobs[p.job].phases[0],
			p.projected.Round(time.Millisecond), f.prediction.Len())
	}
}

// freeIn is in how long a machine has a slot of a kind free again: when the first of those that run there should end.
func (s *sim) freeIn(machine int32, kind Kind) time.Duration {
	least := time.Duration(-1)
	for at := s.machines[machine].first; at != none; at = s.copies[at].next {
		c := &s.copies[at]
		took := s.forecast.of(c.kind, s.taskFacts(c.task))
		if c.kind != kind || took == estimate.Unknown {
			continue
		}
		if left := max(took-(s.now-c.begun), 0); least < 0 || left < least {
			least = left
		}
	}
	return max(least, 0)
}
