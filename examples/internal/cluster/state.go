package cluster

import (
	"time"

	"github.com/straggler-go/straggler/restart/tracker"

	"github.com/straggler-go/straggler/examples/internal/des"
)

// The kinds of events, in the order in which they are handled at one instant. Ends come before beginnings.
const (
	copyMoves  uint8 = iota // an attempt ends its stage
	flowEnds                // a flow has carried all its bytes
	speedTurns              // a machine becomes slower or faster
	outputLost              // a machine loses its outputs
	jobComes                // a job is submitted
	reports                 // an attempt reports
	offerAgain              // a phase that waited is asked again
	beats                   // a machine with free slots asks for work
	fairTurn                // pools with too few slots are checked
	overloads               // jobs with late tasks on some machines are checked
	asksAgain               // a clone that waits for an output of its own is asked again
)

// sim is a running simulation.
type sim struct {
	c      *Config
	queue  des.Queue
	draws  *des.Draws
	now    time.Duration
	today  time.Time // now as a time.Time, for the calls of the library
	net    *network
	result Result

	machines []machine
	jobs     []job
	phases   []phase
	tasks    []task
	copies   []copyOf
	spare    []int32 // free places in copies
	left     int     // number of jobs that have not ended

	free  [kinds]int // slots
	total [kinds]int
	idle  [kinds][]int32 // machines with a free slot, in an arbitrary order
	fresh [kinds][]int32 // machines with a slot that was not offered since the last round
	eager []int32        // jobs that may take a slot that is already free

	order     order
	passed    []slotOf // the jobs that are excluded from order, and the kinds of their slots
	watchman  *watchman
	door      *door
	wait      locality
	clones    *cloner
	forecast  *forecast
	overload  *overload
	assigner  *assigner
	guard     *guard
	knowledge *tracker.Knowledge // of all phases, about the machines; nil: it is not used
	touched   []int32            // jobs whose wishes the order does not know yet
	rounds    uint64
	err       error // an error of the library, which ends the simulation
	declined  int8  // the level at which a phase preferred to wait, in the latest take
}

type machine struct {
	free    [kinds]int32
	running int32
	rack    int32
	first   int32 // the first of its attempts; none if there are none
	rate    float64
	spell   float64     // factor of the present slow spell
	waiting []int32     // attempts that wait for the gate
	offered [kinds]bool // the machine is in fresh
	place   [kinds]int32
	beatSet bool
	ended   []slotOf // slots that became free since its last heartbeat
}

// slotOf is a job and a kind of slot: one that the job has left, or one that it was passed over for.
type slotOf struct {
	job  int32
	kind Kind
}

const none = -1

type job struct {
	phases    [2]int32 // first and end
	left      int32    // number of phases that have not ended
	running   [kinds]int32
	unheard   [kinds]int32 // slots that it has left, and that still count as its own
	waiting   [kinds]int32 // attempts that are still to be started
	wishes    [kinds]int32 // phases with a running task that wants a copy
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
	job        int32
	first, end int32 // tasks
	missing    int32 // input tasks that have not ended
	unfinished int32
	waiting    int32 // attempts to be started
	running    int32
	wishes     bool // a running task wants a copy
	open       bool
	over       bool  // the last of its tasks has ended, and the job knows
	perTask    bool  // tasks begin one by one, as their inputs arrive
	threshold  int32 // the phase begins when no more than this number of inputs are missing
	inputs     []int32
	outputs    []int32
	opened     time.Duration
	clones     int32
	cloned     int32 // number of its tasks, from the first, that have clones
	grant      grant
	queue      []int32 // tasks in the order of their start
	head       int
	again      []int32 // tasks that start again
	nearby     []near  // waiting tasks by the machine with their block
	nearbyRack []near
	rackHead   []int32 // for each rack, 1 + the first index in nearbyRack; 0 if it is not known yet
	from       []float64
	placed     []int32       // rack of each task, if placement says so
	bound      []int32       // for each task, the machine for which package skew chose its size; none for any machine
	kept       [][]kept      // for each task that has ended, its outputs
	assigned   bool          // its clones read outputs of their own
	window     time.Duration // how long its clones wait for outputs of their own
	output     float64       // size of the output of each of its tasks, in bytes
	projected  time.Duration // expected time of its longest task; 0 if it is not known
	wait       waiter
}

// near is a task with its block near a place.
type near struct{ place, task int32 }

type task struct {
	phase   int32
	owed    int32 // attempts still to be started
	copies  int32 // running attempts
	drawn   int32 // attempts for which luck was drawn
	first   int32 // of the running copies
	missing int32 // its input tasks that have not ended, if they are counted by task
	machine int32 // the machine with its output
	done    bool
	would   time.Duration // when an attempt that was killed for a restart would have ended it; 0 if none was killed
	replica int32         // the machine with a replica of its output
	ahead   bool          // the replica, or by now the output, was computed ahead of need
	gone    bool          // its output is lost, and this was not noticed yet
}

type stage uint8

const (
	starts  stage = iota // the lag
	reads                // the attempt reads
	awaits               // the clone waits for an output of its own
	starves              // the attempt has read all input that is there
	queues               // the attempt waits for the gate
	works                // the attempt computes
	writes               // the attempt writes
)

type copyOf struct {
	life           uint32
	turn           uint32 // number of its latest event
	task, phase    int32
	machine        int32
	attempt        int32 // the tracker's number
	flows          int32 // number of its flows
	live           bool
	stage          stage
	kind           Kind
	extra          bool // a copy
	since          time.Duration
	done, amount   float64 // of the stage, in seconds at speed 1
	share          float64 // share of reading in its progress
	level          int8
	flow           int32         // the first of its flows
	sibling        int32         // the next running attempt of the task
	next, previous int32         // the neighbours in the list of its machine
	begun          time.Duration // when it started
	reading        float64       // seconds of the read stage, at speed 1
	working        float64       // seconds of the work stage
	luck, turns    float64       // factor on working, and the share of the work from which on it is slow (Phase.Late)
	output         float64       // bytes of the write stage
	writing        float64       // seconds of the write stage, if nothing else uses the disk
	worked         time.Duration // when it began to compute
	kept           bool          // its task has ended, and it runs on for a reader
	ahead          bool          // its task has ended, and it computes the output again ahead of need
	reader         *reader       // nil unless it is a clone that reads outputs of its own
}
