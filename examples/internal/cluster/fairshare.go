package cluster

import (
	"time"

	"github.com/straggler-go/straggler/fairshare"
	"github.com/straggler-go/straggler/fairshare/gate"
	"github.com/straggler-go/straggler/fairshare/preempt"
)

// fairOrder gives slots to jobs by package fairshare. Each job is a leaf of a tree of pools. There is an index for
// each kind of slot, because a job may have its share of one kind and not of another.
type fairOrder struct {
	s     *sim
	first int // leaf of the first job
	index [kinds]*fairshare.Index
	want  [kinds][]int32 // number of slots that each job wants
	total [kinds]int64
}

func newFairOrder(s *sim) (*fairOrder, error) {
	o := &fairOrder{s: s, first: len(s.c.Order.Pools)}
	tree, err := poolTree(s.c)
	if err != nil {
		return nil, err
	}
	for k := range o.index {
		o.index[k] = tree.Index()
		o.want[k] = make([]int32, len(s.c.Jobs))
	}
	return o, nil
}

// poolTree returns the tree of pools, with a leaf for each job below its pool.
func poolTree(c *Config) (*fairshare.Tree, error) {
	pools := append([]fairshare.Pool(nil), c.Order.Pools...)
	for _, j := range c.Jobs {
		leaf := fairshare.Pool{}
		if len(c.Order.Pools) > 0 {
			leaf.Parent = fairshare.Under(j.Pool)
		}
		pools = append(pools, leaf)
	}
	return fairshare.New(pools, c.Order.Policy)
}

func (o *fairOrder) leave(job int32) {
	for k := range o.index {
		o.update(job, Kind(k), 0, 0)
	}
}

func (o *fairOrder) update(job int32, kind Kind, running, wants int32) {
	o.total[kind] += int64(wants - o.want[kind][job])
	o.want[kind][job] = wants
	o.index[kind].SetDemand(o.first+int(job), int64(running+wants))
}

func (o *fairOrder) took(job int32, kind Kind) { o.index[kind].Add(o.first+int(job), 1) }
func (o *fairOrder) gave(job int32, kind Kind) { o.index[kind].Add(o.first+int(job), -1) }
func (o *fairOrder) wants(kind Kind) bool      { return o.total[kind] > 0 }

func (o *fairOrder) next(kind Kind) (int32, bool) {
	pick := o.index[kind].Next()
	job := int32(pick.Pool - o.first)
	if pick.Pool >= 0 {
		o.s.tell(job, "next for a %v slot: %v", kind, pick)
	}
	return job, pick.Pool >= 0
}

func (o *fairOrder) hold(job int32, kind Kind, on bool) { o.index[kind].Hold(o.first+int(job), on) }

// watchman kills attempts for pools that have too few slots. It checks once a second.
type watchman struct {
	tree   *fairshare.Tree
	watch  [kinds]*preempt.Preemptor
	shares []fairshare.Share
	usage  []int64
	demand []int64
	tasks  []preempt.Task
	places []int32
}

const watchEvery = time.Second

func newWatchman(s *sim) (*watchman, error) {
	config := s.c.Order.Preempt
	if config == nil {
		return nil, nil
	}
	tree, err := poolTree(s.c)
	if err != nil {
		return nil, err
	}
	w := &watchman{tree: tree, usage: make([]int64, tree.Len()), demand: make([]int64, tree.Len())}
	for k := range w.watch {
		if w.watch[k], err = preempt.New(tree, *config); err != nil {
			return nil, err
		}
	}
	s.queue.Push(watchEvery, fairTurn, 0, 0)
	return w, nil
}

// preempt finds pools that have too few slots, and kills attempts for them.
func (s *sim) preempt() {
	s.tellOrder()
	for k := range s.watchman.watch {
		s.watchman.turn(s, Kind(k))
	}
	s.queue.Push(s.now+watchEvery, fairTurn, 0, 0)
}

func (w *watchman) turn(s *sim, kind Kind) {
	first := len(s.c.Order.Pools)
	for i := range s.jobs {
		j := &s.jobs[i]
		w.usage[first+i] = int64(j.running[kind])
		w.demand[first+i] = 0
		if j.come && j.left > 0 {
			w.demand[first+i] = int64(j.running[kind] + j.waiting[kind])
		}
	}
	var err error
	if w.shares, err = w.tree.Shares(w.shares, w.demand, int64(s.total[kind])); err != nil {
		s.err = err // minimums that do not fit; Policy.OnInfeasible may say what then
		return
	}
	if err = w.watch[kind].Observe(s.clock(), w.shares, w.usage); err != nil {
		s.err = err
		return
	}
	if len(w.watch[kind].Claims(s.clock())) == 0 {
		return
	}
	w.tasks, w.places = w.tasks[:0], w.places[:0]
	for at := range s.copies {
		if c := &s.copies[at]; c.live && c.kind == kind {
			w.tasks = append(w.tasks, preempt.Task{
				Pool: first + int(s.phases[c.phase].job), Machine: int(c.machine), Started: epoch.Add(c.begun), Copy: c.extra || c.kept,
			})
			w.places = append(w.places, int32(at))
		}
	}
	for _, v := range w.watch[kind].Plan(s.clock(), w.tasks, []int64{int64(s.free[kind])}).Victims {
		at := w.places[v.Task]
		c := s.copies[at]
		p := &s.phases[c.phase]
		s.tell(p.job, "task %d: attempt %d is preempted for another pool", c.task-p.first, c.attempt)
		s.tellKill(at)
		if !c.kept { // an attempt that is kept is already counted as lost
			s.result.Preempted++
		}
		s.kill(at, !c.extra && s.tasks[c.task].copies == 1)
	}
}

// door divides reduces into copying and computing, by package fairshare/gate.
type door struct{ gate.Gate }

func newDoor(config *gate.Config) (*door, error) {
	if config == nil {
		return nil, nil
	}
	g, err := gate.New(*config)
	return &door{g}, err
}

// facts returns the numbers of attempts on a machine, in all and of a job.
func (d *door) facts(s *sim, job, machine int32) (gate.Machine, gate.Reducer) {
	var n gate.Machine
	var r gate.Reducer
	for at := s.machines[machine].first; at != none; at = s.copies[at].next {
		c := &s.copies[at]
		if c.kind != Reduce {
			continue
		}
		n.Reducers++
		if c.stage >= works {
			n.Computing++
		}
		if s.phases[c.phase].job == job {
			r.Running++
			if c.stage < works {
				r.Copying++
			}
		}
	}
	return n, r
}

// compute reports whether a reduce that has copied all input may begin to compute.
func (d *door) compute(s *sim, at int32) bool {
	c := &s.copies[at]
	return d.answer(s, c.phase, c.machine, d.Compute(d.facts(s, s.phases[c.phase].job, c.machine)))
}

// launch reports whether a reduce of a phase may begin to copy on a machine.
func (d *door) launch(s *sim, id, machine int32) bool {
	return d.answer(s, id, machine, d.Launch(d.facts(s, s.phases[id].job, machine)))
}

func (d *door) answer(s *sim, id, machine int32, a gate.Answer) bool {
	job := s.phases[id].job
	s.tell(job, "phase %d, the gate of machine %d: %v", id-s.jobs[job].phases[0], machine, a)
	return a.OK()
}
