package trace

import (
	"slices"
	"strconv"
)

// maxTask bounds the index of a task, so that no broken number makes a reader of the log reserve absurd memory.
const maxTask = 1 << 24

// maxPreferred is how many hosts are kept of those that hold a task's input. Blocks have three copies, and a task may
// read several blocks.
const maxPreferred = 64

// builder gathers a Log: it gives hosts and executors their indices and orders what was read at the end.
type builder struct {
	log       *Log
	lists     []attemptList // by phase
	hosts     map[string]int32
	executors map[string]int32
	phases    map[phaseName]int
	named     map[int]*taskNames // by phase
	repeats   map[phaseName]int  // how often a name was to be given once more
	names     int                // of tasks that are kept
	numbered  map[int]bool       // by phase: attempts say their numbers
	unknown   []string           // fields of records that are not known
	blank     string             // what is trimmed from lines
}

type phaseName struct{ job, name string }

func newBuilder(format Format) *builder {
	return &builder{
		log: &Log{
			Format: format, Hosts: make([]Host, 1), Executors: make([]Executor, 1),
			Passed: map[string]int{}, NotRun: map[string]int{},
		},
		hosts:     map[string]int32{"": 0},
		executors: map[string]int32{"": 0},
		phases:    map[phaseName]int{},
		named:     map[int]*taskNames{},
		repeats:   map[phaseName]int{},
		numbered:  map[int]bool{},
		blank:     " \t\r\n\v\f",
	}
}

// host returns the index of the host with the name; a rack that was unknown is filled in.
func (b *builder) host(name, rack []byte) int32 {
	i := indexOf(b.hosts, name)
	if int(i) == len(b.log.Hosts) {
		b.log.Hosts = append(b.log.Hosts, Host{Name: nameOf(name)})
	}
	if h := &b.log.Hosts[i]; i > 0 && h.Rack == "" && len(rack) > 0 {
		h.Rack = nameOf(rack)
	}
	return i
}

// executor returns the index of the executor with the name; what was unknown of it is filled in.
func (b *builder) executor(name []byte, host, cores int32) int32 {
	i := indexOf(b.executors, name)
	if int(i) == len(b.log.Executors) {
		b.log.Executors = append(b.log.Executors, Executor{Name: nameOf(name)})
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
		key := nameOf(name) // which may differ from what the log has
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
	for _, taken := b.phases[key]; taken; _, taken = b.phases[key] {
		again := phaseName{job, name}
		b.repeats[again]++
		key.name = name + " #" + strconv.Itoa(b.repeats[again]+1)
	}
	b.phases[key] = len(b.log.Phases)
	b.log.Phases = append(b.log.Phases, Phase{Job: job, Name: key.name, Kin: kinOf[b.log.Format]})
	b.lists = append(b.lists, attemptList{})
	return len(b.log.Phases) - 1
}

// hint notes what looks odd, up to a number of lines.
func (b *builder) hint(text string) {
	const most = 5
	switch n := len(b.log.Hints); {
	case n < most:
		b.log.Hints = append(b.log.Hints, text)
	case n == most:
		b.log.Hints = append(b.log.Hints, "and more such notes")
	}
}

// pass counts an event that says nothing about attempts.
func (b *builder) pass(kind []byte) { tally(b.log.Passed, kind) }

// notRun counts a task that did not run here, or not so that it can be told apart.
func (b *builder) notRun(kind string) { tally(b.log.NotRun, []byte(kind)) }

func tally(counts map[string]int, kind []byte) {
	const maxKinds, maxLength = 200, 100
	name := nameOf(kind)
	if _, ok := counts[name]; !ok && (len(counts) >= maxKinds || len(name) > maxLength) {
		name = "(others)"
	}
	counts[name]++
}

// after notes which phases each phase comes after, by index, given in any order: it puts the phases in an order in
// which those that others come after stand first, and otherwise leaves them where they are. What goes round in a
// circle is left out.
func (b *builder) after(parents map[int][]int) {
	if len(parents) == 0 {
		return
	}
	b.join()
	place := make([]int, len(b.log.Phases)) // the new index plus 1; 0 if there is none yet, -1 while parents are placed
	ordered := make([]Phase, 0, len(b.log.Phases))
	var put func(i int)
	put = func(i int) {
		if place[i] != 0 {
			return
		}
		place[i] = -1
		slices.Sort(parents[i]) // they may come from a map
		var own []int
		for _, parent := range parents[i] {
			if put(parent); place[parent] > 0 && !slices.Contains(own, place[parent]-1) {
				own = append(own, place[parent]-1)
			}
		}
		p := b.log.Phases[i]
		p.DependsOn = own
		ordered = append(ordered, p)
		place[i] = len(ordered)
	}
	for i := range b.log.Phases {
		put(i)
	}
	b.log.Phases = ordered
}
