package cluster

import (
	"time"

	"github.com/straggler-go/straggler/examples/internal/des"
)

// What happens, in the order in which it is handled at one instant: what ends comes before what begins.
const (
	copyMoves  uint8 = iota // a copy ends its stage
	flowEnds                // a flow has carried all it had to
	speedTurns              // a machine becomes slower or faster
	outputLost              // a machine loses what it has
	jobComes                // a job is submitted
	reports                 // a copy reports
	offerAgain              // someone who waited is to be asked again
	beats                   // a machine with free slots asks for work
	fairTurn                // pools that starve are looked at
	overloads               // jobs are looked at whose tasks are late on some machines
	asksAgain               // a clone that waits for an output of its own is asked again
	sampled                 // the timeline gets a row
)

// sim is a simulation in progress.
type sim struct {
	c      *Config
	queue  des.Queue
	draws  *des.Draws
	now    time.Duration
	today  time.Time // now, as the library's calls see it
	net    *network
	result Result

	machines []machine
	jobs     []job
	phases   []phase
	tasks    []task
	copies   []copyOf
	spare    []int32 // places in copies that are free
	left     int     // jobs that have not ended

	free  [kinds]int // slots
	total [kinds]int
	idle  [kinds]idle
	fresh [kinds][]int32 // machines that have a slot to offer since the last round
	eager []int32        // jobs that may take a slot that is free already

	order    order
	watchman *watchman
	door     *door
	wait     locality
	clones   *cloner
	banned   *banned
	links    *links
	learned  *machineSpeeds
	forecast *forecast
	overload *overload
	assigner *assigner
	disks    *disks
	shared   *sharedBudget
	guard    *guard
	touched  []int32 // jobs of which the order does not know what they want now
	rounds   uint64
	err      error // what a package refused; the simulation ends with it
	declined int8  // the level at which a phase waited for a nearer slot, in the latest take
}

type machine struct {
	free    [kinds]int32
	running int32
	rack    int32
	first   int32 // of the copies on it; none if there are none
	rate    float64
	spell   float64     // factor of the present slow spell
	waiting []int32     // copies that wait for the gate
	offered [kinds]bool // is in fresh
	place   [kinds]int32
	beatSet bool
	used    int64     // bytes on its disk
	owed    int64     // bytes that its copies are to write
	ended   []unheard // since its last heartbeat
}

// unheard is a slot that a job has left, of which the scheduler hears with the machine's next heartbeat.
type unheard struct {
	job  int32
	kind Kind
}

// idle are the machines with a free slot, in an order of its own.
type idle struct{ machines []int32 }

const none = -1

type job struct {
	phases    [2]int32 // first and end
	left      int32    // phases that have not ended
	running   [kinds]int32
	unheard   [kinds]int32 // slots that it has left, and that still count as its own
	waiting   [kinds]int32 // copies that are still to be launched
	wishes    [kinds]int32 // phases of which a running task wants a copy
	phase     [kinds][]int32
	come      bool
	touched   bool
	eager     bool
	followers []int32
}

// What each report asks of a phase and of a copy stands first: a large cluster's do not fit the processor's cache.
type phase struct {
	facts      *Phase
	watch      *watch
	interval   time.Duration
	job        int32
	first, end int32 // tasks
	missing    int32 // tasks of its inputs that have not ended
	unfinished int32
	waiting    int32 // copies to be launched
	running    int32
	wishes     bool // a running task wants a copy
	open       bool
	over       bool  // the last of its tasks has ended, and the job knows
	perTask    bool  // tasks begin one by one, as what they read is there
	threshold  int32 // begin when no more are missing
	inputs     []int32
	outputs    []int32
	opened     time.Duration
	clones     int32
	cloned     int32 // so many of its tasks, from the first, get so many copies
	grant      grant
	rates      []float64 // of copies that have ended, for the cloner
	ran        []ran     // the same and where, for the blacklist
	queue      []int32   // tasks in the order in which they are to be launched
	head       int
	again      []int32 // tasks to be run once more
	nearby     []near  // tasks that wait by the machine that has their block
	nearbyRack []near
	rackHead   []int32 // by rack: 1 + where to look first in nearbyRack; 0 if that is not known yet
	from       []float64
	placed     []int32       // rack of each task, if placement says so
	bound      []int32       // machine that each task's size was made for, if skew says so; none for one that may go anywhere
	kept       [][]kept      // by task, copies of those that have ended, for who is to read them
	assigned   bool          // its clones read outputs of their own
	window     time.Duration // for which they wait for these
	output     float64       // bytes that each of its tasks leaves for others to read
	projected  time.Duration // what its longest task is expected to take; 0 if not known
	wait       waiter
}

// near says that a task's block is near a place.
type near struct{ place, task int32 }

type task struct {
	phase   int32
	owed    int32 // copies still to be launched
	copies  int32 // running
	drawn   int32 // copies that luck was drawn for
	first   int32 // of the running copies
	missing int32 // tasks that it reads and that have not ended, where these are counted by task
	machine int32 // that has its output
	done    bool
	would   time.Duration // when a copy that was killed for a restart would have ended it; 0 if none was
	replica int32         // machine that has its output a second time
	ahead   bool          // that, or its output by now, was computed again ahead of need
	gone    bool          // its output on machine is lost, and nobody has noticed
}

type stage uint8

const (
	starts  stage = iota // its lag runs
	reads                // it reads
	awaits               // it waits for an output of its own
	starves              // it has read what there is
	queues               // it waits to be let in by the gate
	works                // it computes
)

type copyOf struct {
	life           uint32
	turn           uint32 // of its latest event
	task, phase    int32
	machine        int32
	attempt        int32 // the tracker's number
	flows          int32 // that it still reads from
	live           bool
	stage          stage
	kind           Kind
	extra          bool // launched beside another, because of a decision
	since          time.Duration
	done, amount   float64 // of the stage, in seconds at speed 1
	share          float64 // of the progress score, that reading stands for
	level          int8
	flow           int32         // the first of those that it reads from
	sibling        int32         // the next running copy of the task
	next, previous int32         // on its machine
	begun          time.Duration // when it was launched
	reading        float64       // seconds of the read stage, at speed 1
	working        float64       // seconds of the work stage
	worked         time.Duration // when it began to compute
	opened         time.Duration // when its first flow began
	kept           bool          // its task has ended, and it runs on for who is to read it
	ahead          bool          // its task has ended, and it computes the output again ahead of need
	reader         *reader       // of one that reads outputs of its own
}
