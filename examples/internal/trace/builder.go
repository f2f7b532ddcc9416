package trace

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxTask bounds the index of a task, so that no broken number makes a reader of the log reserve absurd memory.
const maxTask = 1 << 24

// builder gathers a Log: it gives hosts and executors their indices and orders what was read at the end.
type builder struct {
	log       *Log
	hosts     map[string]int32
	executors map[string]int32
	phases    map[phaseName]int
}

type phaseName struct{ job, name string }

func newBuilder(format Format) *builder {
	return &builder{
		log:       &Log{Format: format, Hosts: make([]Host, 1), Executors: make([]Executor, 1), Passed: map[string]int{}},
		hosts:     map[string]int32{"": 0},
		executors: map[string]int32{"": 0},
		phases:    map[phaseName]int{},
	}
}

// host returns the index of the host with the name; a rack that was unknown is filled in.
func (b *builder) host(name, rack []byte) int32 {
	i := indexOf(b.hosts, name)
	if int(i) == len(b.log.Hosts) {
		b.log.Hosts = append(b.log.Hosts, Host{Name: valid(name)})
	}
	if h := &b.log.Hosts[i]; i > 0 && h.Rack == "" && len(rack) > 0 {
		h.Rack = valid(rack)
	}
	return i
}

// executor returns the index of the executor with the name; what was unknown of it is filled in.
func (b *builder) executor(name []byte, host, cores int32) int32 {
	i := indexOf(b.executors, name)
	if int(i) == len(b.log.Executors) {
		b.log.Executors = append(b.log.Executors, Executor{Name: valid(name)})
	}
	if e := &b.log.Executors[i]; i > 0 {
		if e.Host == 0 {
			e.Host = host
		}
		if e.Cores == 0 {
			e.Cores = cores
		}
	}
	return i
}

// indexOf returns the index of the name, the next free one if it is new.
func indexOf(indices map[string]int32, name []byte) int32 {
	i, ok := indices[string(name)]
	if !ok {
		key := valid(name) // names that differ only in what is not UTF-8 are one
		if i, ok = indices[key]; !ok {
			i = int32(len(indices))
			indices[key] = i
		}
	}
	return i
}

// phase returns the index of the phase, made if it is new.
func (b *builder) phase(job, name string) int {
	key := phaseName{job, name}
	i, ok := b.phases[key]
	if !ok {
		i = b.newPhase(job, name)
		b.phases[key] = i
	}
	return i
}

// newPhase makes a phase in any case, under a name of its own within the job.
func (b *builder) newPhase(job, name string) int {
	key := phaseName{job, name}
	for n := 2; ; n++ {
		if _, taken := b.phases[key]; !taken {
			break
		}
		key.name = name + " #" + strconv.Itoa(n)
	}
	b.phases[key] = len(b.log.Phases)
	b.log.Phases = append(b.log.Phases, Phase{Job: job, Name: key.name})
	return len(b.log.Phases) - 1
}

func (b *builder) pass(kind []byte) {
	const maxKinds, maxLength = 200, 100
	name := valid(kind)
	if _, ok := b.log.Passed[name]; !ok && (len(b.log.Passed) >= maxKinds || len(name) > maxLength) {
		name = "(others)"
	}
	b.log.Passed[name]++
}

// finish checks and orders what was read and returns the log.
func (b *builder) finish() *Log {
	for i := range b.log.Phases {
		b.finishPhase(&b.log.Phases[i])
	}
	return b.log
}

func (b *builder) finishPhase(p *Phase) {
	faults := &b.log.Faults
	limit := cmp.Or(p.Tasks, maxTask)
	p.Attempts = slices.DeleteFunc(p.Attempts, func(a Attempt) bool {
		outside := a.Task < 0 || int(a.Task) >= limit
		if outside {
			faults[NoTask]++
		}
		return outside
	})
	declared := p.Tasks > 0
	for i := range p.Attempts {
		a := &p.Attempts[i]
		if !declared {
			p.Tasks = max(p.Tasks, int(a.Task)+1)
		}
		if !a.Start.Known() {
			faults[NoStart]++
		}
		if !a.Finish.Known() && a.State != Unfinished {
			faults[NoFinish]++
		}
		inOrder(a.Start, &a.Finish, faults)
	}
	inOrder(p.Submitted, &p.Completed, faults)
	slices.SortStableFunc(p.Attempts, byStart)
}

// inOrder makes a finish before the start unknown: which of the two is wrong cannot be told, and no duration is better
// than a negative one.
func inOrder(start Opt, finish *Opt, faults *Faults) {
	s, known := start.Get()
	f, ended := finish.Get()
	if known && ended && f < s {
		faults[FinishFirst]++
		*finish = Opt{}
	}
}

func byStart(a, b Attempt) int {
	const never = maxTime + 1
	return cmp.Or(
		cmp.Compare(a.Start.Or(never), b.Start.Or(never)),
		cmp.Compare(a.Task, b.Task),
		cmp.Compare(a.Number, b.Number),
	)
}

// moment reads a time in milliseconds. Negative and absurd times are unknown and counted, -1 is unknown by convention.
func (c *cursor) moment(faults *Faults) Opt {
	n, ok := c.integer()
	if !ok || n == -1 {
		return Opt{}
	}
	if n < 0 || n > maxTime {
		faults[BadTime]++
		return Opt{}
	}
	return Known(n)
}

// clock reads a time of a real clock, where 0 too stands for unknown.
func (c *cursor) clock(faults *Faults) Opt {
	if t := c.moment(faults); t.Or(0) > 0 {
		return t
	}
	return Opt{}
}

// bytes reads a count of bytes; negative and absurd ones are unknown.
func (c *cursor) bytes() Opt {
	if n, ok := c.integer(); ok && n <= maxBytes {
		return Known(n)
	}
	return Opt{}
}

// index reads a number of a task, an attempt or a stage; -1 if there is none or it does not fit.
func (c *cursor) index() int32 {
	if n, ok := c.integer(); ok && n >= 0 && n < 1<<31 {
		return int32(n)
	}
	return -1
}

// valid copies a name, with what is not UTF-8 replaced so that it can be written as JSON again.
func valid(name []byte) string { return strings.ToValidUTF8(string(name), "\uFFFD") }
