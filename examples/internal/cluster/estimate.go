package cluster

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/estimate/knn"
)

// slowness returns the factor by which a machine is slower than usual, by the record that all phases share (package
// estimate/machines); 1 if it is not known.
func (s *sim) slowness(machine int32) float64 {
	if s.knowledge == nil {
		return 1
	}
	return s.knowledge.Machines().Factor(int(machine))
}

// forecast predicts the time of a task before its phase has any result, by package estimate/knn. It uses the earlier
// runs of any job with the most similar work and input.
type forecast struct {
	runs       [kinds]*knn.Regressor
	prediction knn.Prediction
	task       [2]float64
}

// newForecast returns nil, which predicts nothing, if Config.Forecast is nil.
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

// ended adds the attempt that has ended a task. A killed attempt does not show its whole time.
func (f *forecast) ended(s *sim, c *copyOf) {
	if f != nil {
		t := s.taskFacts(c.task)
		if err := f.runs[c.kind].Observe([]float64{workOf(t), t.Bytes}, (s.now - c.begun).Seconds()); err != nil {
			s.err = err
		}
	}
}

// of returns the expected time of a task; estimate.Unknown without earlier runs.
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

// project computes the expected time of a phase's longest task: when its job arrives, and again when the phase
// begins.
func (f *forecast) project(s *sim, id int32) {
	if f == nil {
		return
	}
	p := &s.phases[id]
	p.projected = 0
	for i := range p.facts.Tasks {
		p.projected = max(p.projected, f.of(p.facts.Kind, &p.facts.Tasks[i]))
	}
	if p.projected > 0 {
		s.tell(p.job, "phase %d: its longest task takes %v by the %d runs most like it", id-s.jobs[p.job].phases[0],
			p.projected.Round(time.Millisecond), f.prediction.Len())
	}
}

// freeIn returns the time until a machine has a free slot of a kind: the expected end of the first attempt to end
// there.
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
