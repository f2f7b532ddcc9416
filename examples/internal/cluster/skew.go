package cluster

import (
	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/skew"
)

// Skew assigns partitions to the reduce tasks of phases with Keys, by package skew, so that a fast worker gets more
// work.
type Skew struct {
	// Wait is the policy by which a reduce task waits for a slot on the worker for which its size was chosen; nil:
	// the policy of maps.
	Wait *delay.Policy
}

// hashes is the number of hash functions in the sketch of the keys.
const hashes = 4

// Keys describes the values that the tasks of a phase reduce. The tasks of one earlier phase produce these values.
type Keys struct {
	// Values has a row for each task of Phase.After[0]: the number of values of each key that it produces.
	Values [][]int64
	// Partitions is the number of partitions into which the keys are hashed, at least the number of tasks of the
	// phase.
	Partitions int
	// Seconds is the computing time of a value on a machine of speed 1, and Bytes the size of a value.
	Seconds, Bytes float64
}

// ownFacts returns the facts about a phase. For tasks with keys, the work is decided later; until then they have
// equal parts.
func ownFacts(p *Phase) *Phase {
	if p.Keys == nil {
		return p
	}
	own := *p
	own.Tasks = make([]Task, len(p.Tasks))
	values := 0.0
	for _, row := range p.Keys.Values {
		for _, n := range row {
			values += float64(n)
		}
	}
	values /= float64(len(own.Tasks))
	for i := range own.Tasks {
		own.Tasks[i] = Task{Seconds: values * p.Keys.Seconds, Bytes: values * p.Keys.Bytes, Work: values}
	}
	return &own
}

// divide assigns keys and workers to the tasks of a phase, when all its input is there. Without Config.Skew it uses a
// hash function, and any worker.
func (s *sim) divide(id int32) {
	p := &s.phases[id]
	keys := p.facts.Keys
	if keys == nil {
		return
	}
	policy, rows := skew.Policy{Rule: skew.ByHash}, 1
	if s.c.Skew != nil {
		policy, rows = skew.Policy{}, hashes
	}
	sketch, err := sketchOf(keys, rows, s.c.Seed)
	if err != nil {
		s.err = err
		return
	}
	policy.PlaceAll = true // every partition needs a task
	workers := s.workersFor(p)
	row, plan, err := policy.AssignSketch(sketch, s.reducers(p, workers))
	if err != nil {
		s.err = err
		return
	}
	for i := range p.facts.Tasks {
		values := float64(plan.Load[i])
		p.facts.Tasks[i] = Task{Seconds: values * keys.Seconds, Bytes: values * keys.Bytes, Work: values}
	}
	s.tell(p.job, "phase %d: hash function %d of %d: %v; on machines %v", id-s.jobs[p.job].phases[0], row, rows,
		plan, workers)
	if s.c.Skew != nil {
		p.bound = workers
	}
}

// sketchOf counts the keys as the map tasks would: each fills a sketch, and the sketches are added.
func sketchOf(keys *Keys, rows int, seed uint64) (*skew.Sketch, error) {
	all, err := skew.NewSketch(rows, keys.Partitions, seed)
	if err != nil {
		return nil, err
	}
	for _, values := range keys.Values {
		own, err := skew.NewSketch(rows, keys.Partitions, seed)
		if err != nil {
			return nil, err
		}
		for key, n := range values {
			if err := own.Add(uint64(key), n); err != nil {
				return nil, err
			}
		}
		if err := all.Merge(own); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// workersFor returns a machine for each task of a phase: first the machines with free slots, one slot at a time, and
// then others, from a random machine on.
func (s *sim) workersFor(p *phase) []int32 {
	kind, n := p.facts.Kind, int(p.end-p.first)
	from := s.draws.For(6, uint64(p.first)).IntN(len(s.machines))
	var list []int32
	for taken := range 2 {
		for slot, most := int32(0), int32(1); slot < most && len(list) < n; slot++ {
			for i := 0; i < len(s.machines) && len(list) < n; i++ {
				m := int32((from + i) % len(s.machines))
				slots := s.machines[m].free[kind]
				if taken == 1 {
					slots = int32(s.c.Machines[m].Slots[kind])
				}
				if most = max(most, slots); slot < slots {
					list = append(list, m)
				}
			}
		}
	}
	for i := 0; len(list) < n && len(list) > 0; i++ { // with more tasks than slots, a machine gets a second task
		list = append(list, list[i])
	}
	return list
}

// reducers returns the workers of a phase's tasks: their speed by the record of machines, when they are free, and the
// deadline of the job.
func (s *sim) reducers(p *phase, workers []int32) []skew.Reducer {
	list := make([]skew.Reducer, len(workers))
	for i, m := range workers {
		list[i] = skew.Reducer{Ready: s.c.Lag, SecondsPerUnit: p.facts.Keys.Seconds * s.slowness(m)}
		if s.machines[m].free[p.facts.Kind] == 0 {
			list[i].Ready += s.freeIn(m, p.facts.Kind)
		}
		if d := s.c.Jobs[p.job].Deadline; d > 0 {
			if list[i].Deadline = d - s.now; list[i].Deadline == 0 {
				list[i].Deadline = -1
			}
		}
	}
	return list
}

// largestFirst sorts tasks by their work, by package skew. The longest tasks start first, so that no long task is
// left for the end [Mantri §5.4].
func largestFirst(tasks []int32, work func(int32) float64) {
	sizes := make([]int64, len(tasks))
	for i, t := range tasks {
		sizes[i] = int64(work(t) * 1e6) // sizes are whole numbers; a millionth is a fine enough unit
	}
	sorted := make([]int32, 0, len(tasks))
	for _, i := range skew.LargestFirst(nil, sizes) {
		sorted = append(sorted, tasks[i])
	}
	copy(tasks, sorted)
}
