package cluster

import (
	"errors"
	"math"

	"github.com/straggler-go/straggler/fairshare/gate"
)

// disks store the outputs that jobs leave for later phases, until the end of the job. Package fairshare/gate decides
// whether a machine has room for the output of a task. If no task can go on, it chooses the job whose data is deleted
// [FAIR §5.4].
type disks struct {
	gate gate.Gate
	jobs []gate.Job
	ids  []int32
	full bool // a slot was declined since the latest start of an attempt
}

// newDisks returns nil if the disks have no limits.
func newDisks(s *sim) (*disks, error) {
	limited := false
	for i := range s.c.Machines {
		limited = limited || s.c.Machines[i].Disk > 0
	}
	if !limited {
		return nil, nil
	}
	config := gate.Config{}
	if s.c.Order.Gate != nil {
		config = *s.c.Order.Gate
	}
	g, err := gate.New(config)
	return &disks{gate: g}, err
}

// room asks whether a machine has room for the output of a task of a phase.
func (d *disks) room(s *sim, id, machine int32) bool {
	if d == nil || s.c.Machines[machine].Disk == 0 {
		return true
	}
	answer := d.fits(s, machine, s.sizeOf(id))
	if answer.OK() {
		return true
	}
	d.full = true
	s.result.DiskFull++
	job := s.phases[id].job
	s.tell(job, "phase %d, a slot on machine %d: %v", id-s.jobs[job].phases[0], machine, answer)
	return false
}

// hasRoom reports whether one more output fits on the disk of a machine.
func (d *disks) hasRoom(s *sim, machine int32, bytes float64) bool {
	return d == nil || s.c.Machines[machine].Disk == 0 || d.fits(s, machine, int64(math.Ceil(bytes))).OK()
}

// fits compares a number of bytes with the free space of a machine's disk, minus the outputs that are still to be
// written there.
func (d *disks) fits(s *sim, machine int32, bytes int64) gate.Answer {
	m := &s.machines[machine]
	return d.gate.Room(gate.Machine{DiskFree: s.c.Machines[machine].Disk - m.used, DiskOwed: m.owed}, 0, bytes)
}

// sizeOf returns the size of the output of a task of a phase, in whole bytes.
func (s *sim) sizeOf(id int32) int64 { return int64(math.Ceil(s.phases[id].output)) }

// owes reserves space for the output of an attempt; released frees it.
func (d *disks) owes(s *sim, c *copyOf) {
	if d != nil {
		s.machines[c.machine].owed += s.sizeOf(c.phase)
		d.full = false
	}
}

func (d *disks) released(s *sim, c *copyOf) {
	if d != nil {
		s.machines[c.machine].owed -= s.sizeOf(c.phase)
	}
}

// put writes the output of a task to the disk of a machine, and take deletes it.
func (d *disks) put(s *sim, id, machine int32) {
	if d != nil {
		s.machines[machine].used += s.sizeOf(id)
		s.result.DiskMost = max(s.result.DiskMost, s.machines[machine].used)
	}
}

func (d *disks) take(s *sim, id, machine int32) {
	if d != nil && machine != none {
		s.machines[machine].used -= s.sizeOf(id)
	}
}

// clear deletes all outputs of a job, and returns the number of bytes.
func (d *disks) clear(s *sim, job int32) (bytes int64) {
	if d == nil {
		return 0
	}
	for id := s.jobs[job].phases[0]; id < s.jobs[job].phases[1]; id++ {
		p := &s.phases[id]
		for t := p.first; t < p.end; t++ {
			for _, at := range [2]int32{s.tasks[t].machine, s.tasks[t].replica} {
				if at != none {
					d.take(s, id, at)
					bytes += s.sizeOf(id)
				}
			}
			s.tasks[t].machine, s.tasks[t].replica = none, none
		}
	}
	for j := range s.jobs { // a slot that they declined may now have room
		if s.jobs[j].come && s.jobs[j].left > 0 {
			s.want(int32(j))
		}
	}
	return bytes
}

// unblock evicts a job if no task can go on, and reports whether it did.
func (d *disks) unblock(s *sim) bool {
	if d == nil || !d.full || !d.stuck(s) {
		return false
	}
	d.jobs, d.ids = d.jobs[:0], d.ids[:0]
	for id := range s.jobs {
		if j := &s.jobs[id]; j.come && j.left > 0 {
			d.jobs, d.ids = append(d.jobs, s.held(int32(id))), append(d.ids, int32(id))
		}
	}
	e := gate.LatestSubmitted.Evict(d.jobs)
	if e.Job < 0 {
		s.err = errors.New("disks are full, and no job can give way")
		return false
	}
	job := d.ids[e.Job]
	s.tell(job, "%v", e)
	s.result.Evicted++
	s.result.EvictedBytes += d.clear(s, job)
	d.full = false
	s.startAgain(job)
	return true
}

// stuck reports whether tasks wait, no machine has room for any of them, and all running attempts wait for these
// tasks.
func (d *disks) stuck(s *sim) bool {
	for at := range s.copies {
		if c := &s.copies[at]; c.live && c.stage != starves {
			return false
		}
	}
	waits := false
	for id := range s.phases {
		p := &s.phases[id]
		if !p.open || p.waiting == 0 {
			continue
		}
		for _, machine := range s.idle[p.facts.Kind] {
			if s.c.Machines[machine].Disk == 0 || d.fits(s, machine, s.sizeOf(int32(id))).OK() {
				return false
			}
		}
		waits = true
	}
	return waits
}

// held returns a job in the form that the rule reads.
func (s *sim) held(job int32) gate.Job {
	j := &s.jobs[job]
	g := gate.Job{Submitted: epoch.Add(s.result.Jobs[job].At)}
	for id := j.phases[0]; id < j.phases[1]; id++ {
		p := &s.phases[id]
		g.Tasks += int(p.end - p.first)
		g.Done += int(p.end - p.first - p.unfinished)
		for t := p.first; t < p.end; t++ {
			for _, at := range [2]int32{s.tasks[t].machine, s.tasks[t].replica} {
				if at != none {
					g.Bytes += s.sizeOf(id)
				}
			}
		}
	}
	return g
}

// startAgain lets a job begin again without any output. Its attempts that wait for input in slots end.
func (s *sim) startAgain(job int32) {
	j := &s.jobs[job]
	for id := j.phases[0]; id < j.phases[1]; id++ {
		p := &s.phases[id]
		for t := p.first; t < p.end; t++ {
			s.sendBack(t)
		}
		s.wishNothing(id)
		j.waiting[p.facts.Kind] -= p.waiting
		s.assigner.dissolve(s, p)
		s.clones.cancel(p)
		for t := p.first; t < p.end; t++ {
			if s.tasks[t].done {
				s.result.Recomputed++
			}
			s.tasks[t] = task{phase: id, first: none, machine: none, replica: none, drawn: s.tasks[t].drawn}
		}
		s.close(id)
		p.waiting, p.head, p.open, p.over, p.rates, p.rackHead, p.bound = 0, 0, false, false, nil, nil, nil
		p.unfinished, p.missing = p.end-p.first, int32(s.inputTasks(p))
		j.phase[p.facts.Kind] = nil
	}
	j.left = j.phases[1] - j.phases[0]
	s.ahead().sweep(s)
	s.touch(job)
	for id := j.phases[0]; id < j.phases[1]; id++ {
		s.tryOpen(id)
	}
}

// outputOf returns the size of the output of each task of a phase: the bytes that later phases read, in equal parts.
func (s *sim) outputOf(p *phase) float64 {
	bytes := 0.0
	for _, o := range p.outputs {
		read := 0.0
		for _, t := range s.factsOf(o).Tasks {
			read += t.Bytes
		}
		bytes += read / float64(s.inputTasks(&s.phases[o]))
	}
	return bytes
}
