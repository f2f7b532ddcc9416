package trace

import (
	"slices"
	"strconv"
)

// maxTask is the upper bound of the number of a task, so that a wrong number in a log does not reserve an absurd
// amount of memory.
const maxTask = 1 << 24

// maxPreferred is the largest number of stored hosts that hold a task's input. A block has three copies, and a task
// may read several blocks.
const maxPreferred = 64

// builder collects a Log. It numbers hosts and executors, and sorts everything at the end.
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
	states    []string           // words of states that are not known
	// wrongWidth says that the last line was a row with more or fewer values than the table has columns.
	wrongWidth bool
	blank      string // what is trimmed from lines
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

// host returns the index of the host with the name. It sets the rack if the rack was unknown.
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

// executor returns the index of the executor with the name. It sets its values if they were unknown.
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

// indexOf returns the index of the name, or the next free index if the name is new.
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

// phase returns the index of the phase. It adds the phase if it is new.
func (b *builder) phase(job, name string) int {
	key := phaseName{job, name}
	i, ok := b.phases[key]
	if !ok {
		i = b.newPhase(job, name)
		b.phases[key] = i
	}
	return i
}

// newPhase adds a phase in any case, with a name that no other phase of the job has.
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

// hint adds a line about doubtful data, up to a number of lines.
func (b *builder) hint(text string) {
	const most = 5
	switch n := len(b.log.Hints); {
	case n < most:
		b.log.Hints = append(b.log.Hints, text)
	case n == most:
		b.log.Hints = append(b.log.Hints, "and more such notes")
	}
}

// pass counts an ignored event, which has nothing about attempts.
func (b *builder) pass(kind []byte) { tally(b.log.Passed, kind) }

// notRun counts a task that did not run here, or that has no times of its own.
func (b *builder) notRun(kind string) { tally(b.log.NotRun, []byte(kind)) }

func tally(counts map[string]int, kind []byte) {
	const maxKinds, maxLength = 200, 100
	name := nameOf(kind)
	if _, ok := counts[name]; !ok && (len(counts) >= maxKinds || len(name) > maxLength) {
		name = "(others)"
	}
	counts[name]++
}

// after sets the input phases of each phase. Parents are indexes of phases in any order. It moves phases so that
// input phases are first, and keeps the order otherwise. It leaves out a dependency that closes a circle.
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
