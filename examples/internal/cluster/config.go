package cluster

import (
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/delay/assign"
	"github.com/straggler-go/straggler/estimate/knn"
	"github.com/straggler-go/straggler/fairshare/gate"
	"github.com/straggler-go/straggler/laxity/outlier"
	"github.com/straggler-go/straggler/placement"
	"github.com/straggler-go/straggler/restart"
	"github.com/straggler-go/straggler/restart/tracker"
)

// Config is a cluster, what it has to run, and what decides. A field of a package's type that is nil or zero leaves that
// package out.
type Config struct {
	Machines []Machine
	// Racks are the machines' racks. Nil: one rack, in which the network holds nobody up.
	Racks []Rack
	Jobs  []Job
	// Seed is that of all luck.
	Seed uint64

	// Disk is how fast a task reads what lies on its machine, and Remote how fast it can read from another, in bytes per
	// second at the machine's usual speed. 0 is infinitely fast.
	Disk, Remote float64
	// Lag is how long a copy takes to start.
	Lag time.Duration
	// Heartbeat is how often a machine with free slots asks for work; each begins at an instant of its own. With the same
	// message the scheduler hears what has ended there: until then the slot counts as held by the job that has left it.
	// 0: at once.
	Heartbeat time.Duration
	// OneTask is how Hadoop assigned work: at most one task of each kind a heartbeat.
	OneTask bool
	// EvenLoad is how Hadoop spread tasks below capacity: at its heartbeat a machine gets no task of a kind if it has its
	// even part, rounded up, of those that run and that could begin.
	EvenLoad bool

	// Interval is how often a copy reports its progress; 0: never. ReportLoss is the share of the reports that get lost,
	// and ReportLate how much later than it should one comes at most, by chance.
	Interval   time.Duration
	ReportLoss float64
	ReportLate time.Duration

	// Restart is the policy against stragglers, and Budget bounds the copies of all phases together.
	Restart restart.Policy
	Budget  *tracker.BudgetConfig
	// LearnMachines lets the phases share what they learn of each machine's speed.
	LearnMachines bool
	// Delay is how jobs wait for a slot where their data is.
	Delay *delay.Policy
	// Clone admits clones of small jobs, and Straggler is p, the probability that a task straggles. If it is 0 it is
	// learned.
	Clone *clone.Config
	// Contention is which part of its bandwidth a clone has while another of its task reads the same output; 0 means all.
	// Assign lets clones wait for outputs of their own; nil: they share what there is.
	Contention float64
	Assign     *Assignment
	// ClonePreempts lets small jobs have the room that clones of larger ones take.
	ClonePreempts bool
	Straggler     float64
	// Blacklist keeps tasks off machines that have made stragglers of late; nil: none.
	Blacklist *clone.BlacklistConfig
	// Order says whose task is next.
	Order Order
	// Asked is how many jobs are asked about one free slot at most; 0: all that want one.
	Asked int
	// Place puts the tasks of phases that read all of another phase's output where links are least loaded.
	Place bool
	// Links has Place learn how fast links are from reads that have ended, and foresee by this how fast they will be for
	// a phase; nil: it knows what they can carry.
	Links *placement.BandwidthConfig
	// LargestFirst starts the tasks with most to do first.
	LargestFirst bool
	// Skew gives the reduce tasks of phases with Keys their parts; nil: keys are hashed, whatever comes out.
	Skew *Skew
	// Overload keeps tasks of jobs with deadlines off machines where these are far later than elsewhere.
	Overload *outlier.Config
	// Forecast predicts how long tasks take from past runs, for the order by laxity and for Overload; its Dimensions are
	// not read. Nil: a job's tasks take what they have to do at speed 1, as their user says.
	Forecast *knn.Config
	// LateNotice says that a lost output is noticed when a phase that reads it is to begin, or at once if one has begun;
	// otherwise every loss is noticed at once.
	LateNotice bool
	// Replicate guards intermediate outputs against loss.
	Replicate *Replication

	// Evict says whose outputs are deleted when machines' disks are full and nobody can go on.
	Evict gate.EvictRule

	// Until ends the simulation; 0: it ends with the last job.
	Until time.Duration
	// Explain is the job whose decisions are written down in Result.Story, by its number from 1; 0: none.
	Explain int
	// Record keeps Result.Runs.
	Record bool
	// Sample is how often Result.Samples gets a row; 0: never.
	Sample time.Duration
}

// Rack has links to the rest of the cluster, in bytes per second; 0 is a link that never matters.
type Rack struct{ Up, Down float64 }

// Kind is a kind of slot. A cluster that makes no difference has slots of one kind only.
type Kind uint8

// The kinds of slots.
const (
	Map Kind = iota
	Reduce
	kinds
)

// String returns the kind's name.
func (k Kind) String() string {
	if k == Map {
		return "map"
	}
	return "reduce"
}

// Machine is a machine. The zero value has no slots.
type Machine struct {
	Rack  int
	Slots [kinds]int
	// Speed is how fast it works; 0 counts as 1.
	Speed float64
	// Slow are the times at which it is slower, in order.
	Slow []Spell
	// Contention is the factor on its speed with one copy running, with two, and so on; the last one holds for more. Nil: 1.
	Contention []float64
	// Disk is how many bytes that later phases read it can hold; 0: any number.
	Disk int64
	// Loses are the times at which all finished outputs on it are lost. What runs goes on.
	Loses []time.Duration
}

// Spell is a time in which a machine works at Factor of its speed.
type Spell struct {
	At, For time.Duration
	Factor  float64
}

// Job is a job: phases of tasks.
type Job struct {
	At     time.Duration
	Pool   int // of Order.Pools
	Phases []Phase
	// Deadline is an instant; 0: none.
	Deadline time.Duration
	// Projected is what the job is expected to take, for the order by laxity.
	Projected time.Duration
	// Follows is a job before this one, by its number from 1, with the end of which it is submitted, At later; 0: none.
	Follows int
	// Delay is how this job waits, if not by Config.Delay.
	Delay *delay.Policy
}

// Phase is a number of tasks that do the same to different data.
type Phase struct {
	Kind  Kind
	Tasks []Task
	// After are the phases of the job that this one reads, all earlier in Job.Phases; Pattern says which of their tasks a
	// task reads.
	After   []int
	Pattern assign.Pattern
	// Begin is the share of the tasks of After that must have ended before tasks of this phase are launched: Hadoop starts
	// reduces after the first maps, and lets them copy while the others run. 0 counts as 1, a barrier.
	Begin float64
	// Fetch is how fast a task gets what it reads of the phases After where the network's links are not modelled, in bytes
	// per second; 0: infinitely fast.
	Fetch float64
	// Luck draws the factor on a copy's computing time; wave is 0 for copies that are launched as soon as the phase can
	// begin, and 1 for others. Nil: 1.
	Luck func(r *rand.Rand, task, machine, wave int) float64
	// Keys, if not nil, says what the tasks are to reduce: what each has to do and to read is decided as the phase begins.
	Keys *Keys
	// ReadScore is the share of the progress score that reading stands for; 0: its share of the time at usual speeds.
	ReadScore float64
}

// Task is a task: what it has to read and to do.
type Task struct {
	// Seconds is its computing time on a machine of speed 1, without luck.
	Seconds float64
	// Bytes is what it reads: blocks on Replicas if its phase reads no other, else its part of those outputs.
	Bytes float64
	// Replicas are the machines that have its block. None: it is as near everywhere.
	Replicas []int32
	// Work is what its host knows of how much it has to do; 0: nothing.
	Work float64
}
