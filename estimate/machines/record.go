package machines

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/clock"
	"github.com/straggler-go/straggler/internal/merge"
	"github.com/straggler-go/straggler/internal/num"
)

const (
	recent      = 16 // attempts that have ended, remembered for each machine
	fromOne     = 8  // of which one process may have seen so many, where several tell
	maxMachines = 1 << 30
	maxClasses  = 256
	none        = -1
)

// MostRunning is how many attempts that run a [Record] remembers of each machine: the ones that it was told of last. Told of
// more, it forgets one for each, and finds the machine's factor anew each time.
const MostRunning = 8

// Record is what is known of each machine of a cluster, in the host's numbering, which may be any: numbers need not be
// dense, and a hash serves as one. A negative number is no machine. The zero value is an empty record with the
// defaults.
//
// Time goes by what [Record.Running], [Record.End] and [Record.AddProgress] are told; a clock that steps back costs
// nothing (x/time/rate's rule). Answers are as of the latest event.
//
// Everything takes O(log m) for m machines, unless it says otherwise, and does not allocate once the machines are
// known. A machine takes about 650 bytes, a class four thousand.
//
// Not safe for concurrent use, [Record.Factor] and [Record.Judge] included, which bring what they answer up to date;
// one per cluster. Behind the few methods that a host's phases call, it can stand locked.
type Record struct {
	config   Config
	grid     grid
	clock    clock.Clock
	places   numbers
	fleet    fleet
	machines []machine
	free     []int32
	newest   int32 // of those in use, by their latest event
	oldest   int32
	all      estimate.Empirical // locations of the machines that have shown something
	levels   levels             // of all
	classes  []classRecord
	flagged  []int32 // machines that may be slow or failing
	ended    num.Sum // what counts of the attempts that have ended, in all
	failed   num.Sum // what counts of those that failed
	progress progress
	members  Member    // the next one
	asked    []int     // scratch of Elsewhere
	own      []float64 // scratch of Elsewhere
}

// classRecord is what is known of the machines of one class.
type classRecord struct {
	locations estimate.Empirical // of those that have shown something
	base      float64            // the centre by which machines were flagged
	spread    spread             // of the attempts on them
}

// machine is what is known of one. It is in the trees if it has shown something.
type machine struct {
	number       int    // none if the host has not told which it is
	name         string // empty if the host has not said it
	newer, older int32
	flag         int32 // place in flagged, or none
	class        int32
	known        bool          // location stands in the trees
	location     float64       // median ratio
	weight       float64       // evidence that it rests on
	ended        float64       // as it stands in Record.ended
	failed       float64       // as it stands in Record.failed
	found        time.Duration // when that was
	total        int64         // LATE's total progress, in steps
	past         [recent]evidence
	by           [recent]merge.Origin // who has seen it
	pasts        uint8                // how many, from the oldest on
	present      [MostRunning]struct {
		key uint64
		evidence
	}
	presents uint8
}

// New returns an empty record, or an error that names the field that is out of range.
func New(c Config) (*Record, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &Record{config: c}
	r.begin()
	return r, nil
}

// begin makes a zero record usable.
func (r *Record) begin() {
	if r.places.many != nil {
		return
	}
	r.config, r.fleet.names = r.config.Effective(), map[string]int32{}
	r.grid, r.places, r.newest, r.oldest = newGrid(r.config.Limit, slowShare), numbers{many: map[int]int32{}}, none, none
	r.classes = []classRecord{{base: 1}}
}

// Config returns the configuration with its defaults filled in.
func (r *Record) Config() Config {
	r.begin()
	return r.config
}

// Len returns the number of machines that are remembered.
func (r *Record) Len() int { return len(r.machines) - len(r.free) }

// Running takes what an attempt that runs on a machine shows now. Key tells it from the machine's other attempts: any
// number will do, as long as it stays the same and goes with [Record.End]. Of each machine the [MostRunning] attempts
// that were told of last are remembered. It reports whether the machine is one: a negative number is not.
func (r *Record) Running(now time.Time, machine int, key uint64, a Attempt) bool {
	at := r.at(now)
	i := r.touch(machine)
	if i == none {
		return false
	}
	m := &r.machines[i]
	shown := a.shows(at, false, r.config.Limit)
	place, stalest := -1, 0
	for j := range m.present[:m.presents] {
		if m.present[j].key == key {
			place = j
		}
		if m.present[j].at < m.present[stalest].at {
			stalest = j
		}
	}
	switch {
	case place >= 0 && shown.near(m.present[place].evidence):
		m.present[place].at = at
		r.refresh(i)
		return true
	case place >= 0:
	case m.presents < MostRunning:
		place = int(m.presents)
		m.presents++
	default:
		place = stalest
	}
	times := &r.classes[m.class].spread
	times.count(m.present[place].evidence, -1)
	times.count(shown, 1)
	m.present[place].key, m.present[place].evidence = key, shown
	r.find(i)
	return true
}

// End takes that an attempt has ended on a machine, and how. It need not have been told of while it ran; an attempt
// that is not to count, such as one that never began, is ended with a Usual of 0. It reports whether the machine is
// one.
func (r *Record) End(now time.Time, machine int, key uint64, a Attempt, how Outcome) bool {
	at := r.at(now)
	i := r.touch(machine)
	if i == none || how > Failed {
		return false
	}
	m := &r.machines[i]
	for j := range m.present[:m.presents] {
		if m.present[j].key == key {
			r.classes[m.class].spread.count(m.present[j].evidence, -1)
			m.presents--
			m.present[j], m.present[m.presents].evidence = m.present[m.presents], evidence{}
			break
		}
	}
	shown := a.shows(at, how == Finished, r.config.Limit)
	shown.failed = how == Failed
	by := merge.Nobody
	if r.config.Origin != "" {
		by, shown.at = r.fleet.origins.Stamp(r.config.choices(), at)
	}
	r.put(m, shown, by)
	r.find(i)
	return true
}

// SetClass says that a machine is of a class, such as that of the machines with a GPU: machines are slow against their
// class. At first every machine is of class 0. It reports false for a class that is not 0 to 255, and for a negative
// machine.
func (r *Record) SetClass(machine, class int) bool {
	if class < 0 || class >= maxClasses {
		return false
	}
	i := r.touch(machine)
	if i == none {
		return false
	}
	for len(r.classes) <= class {
		r.classes = append(r.classes, classRecord{base: 1})
	}
	m := &r.machines[i]
	if m.class == int32(class) {
		return true
	}
	r.take(m)
	r.classes[m.class].spread.countAll(m, -1)
	m.class = int32(class)
	r.classes[m.class].spread.countAll(m, 1)
	r.find(i)
	return true
}

// Forget drops all that is known of a machine: it has left, or another one has come under its number.
func (r *Record) Forget(machine int) {
	if i, ok := r.places.get(machine); ok {
		r.drop(i)
	}
}
