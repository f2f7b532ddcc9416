package cluster

import (
	"math/rand/v2"
	"time"

	"github.com/straggler-go/straggler/clone"
	"github.com/straggler-go/straggler/delay"
	"github.com/straggler-go/straggler/delay/assign"
	"github.com/straggler-go/straggler/estimate/knn"
	"github.com/straggler-go/straggler/laxity/outlier"
	"github.com/straggler-go/straggler/restart"
)

// Config describes a cluster, its jobs, and the policies. If a field has the type of a package and is nil or zero,
// the package is not used.
type Config struct {
	Machines []Machine
	// Racks are the racks of the machines. Nil: one rack, with an infinitely fast network.
	Racks []Rack
	// Physical are the physical machines of the machines. All reads, writes and transfers are flows that share their
	// disks and cards then. Nil: disks and cards are not simulated.
	Physical []Physical
	Jobs     []Job
	// Seed is the seed of all random numbers.
	Seed uint64

	// Disk is the speed at which a task reads input on its own machine, and Remote the speed from another machine, in
	// bytes per second, for a machine of usual speed. 0 is infinitely fast.
	Disk, Remote float64
	// Network is the bandwidth of the network that all reads of blocks from other machines share, in bytes per second; 0:
	// infinitely fast. Such reads then use no links of Racks. With Physical it is ignored, because
	// cards are simulated there.
	Network float64
	// Lag is the time from the decision to start an attempt to its start.
	Lag time.Duration
	// Heartbeat is the time between two messages in which a machine with free slots asks for work. Each machine sends
	// at instants of its own. The same message tells the scheduler which attempts have ended on the machine; until
	// then, their slots count as used. 0: the scheduler knows everything at once.
	Heartbeat time.Duration
	// OneTask assigns at most one task of each kind in a heartbeat, as Hadoop did.
	OneTask bool
	// EvenLoad spreads tasks evenly, as Hadoop did: in a heartbeat, a machine gets no task of a kind if it already
	// has its even part, rounded up, of the tasks that run or could start.
	EvenLoad bool

	// Interval is the time between two progress reports of an attempt; 0: no reports.
	Interval time.Duration

	// Restart is the policy against stragglers.
	Restart restart.Policy
	// LearnMachines lets all phases share a record of the speed of each machine.
	LearnMachines bool
	// Delay is the policy by which jobs wait for a slot near their data.
	Delay *delay.Policy
	// Clone is the policy that clones small jobs. Straggler is the probability that a task straggles, p in Dolly's
	// paper.
	Clone *clone.Config
	// Contention is the share of its bandwidth that a clone has while one other clone of its task reads the same
	// output; 0 is used as 1. More clones divide equally what two have together. Assign lets clones wait for outputs of
	// their own. Nil: all clones of a task read the outputs of the attempts that end first, and share them as long as
	// they read (contention cloning, Dolly §4.1).
	Contention float64
	Assign     *Assignment
	// ClonePreempts lets small jobs kill clones of larger jobs, to use their budget.
	ClonePreempts bool
	Straggler     float64
	// Order decides which job gets the next free slot.
	Order Order
	// Place chooses racks with little load on their links for the tasks of phases that read all outputs of another
	// phase.
	Place bool
	// LargestFirst starts the tasks with most work first.
	LargestFirst bool
	// Skew assigns keys to the reduce tasks of phases with Keys; nil: keys are assigned by a hash function.
	Skew *Skew
	// Overload keeps tasks of jobs with deadlines away from machines on which these jobs are much later than on other
	// machines.
	Overload *outlier.Config
	// Forecast predicts the times of tasks from earlier runs, for the order by laxity and for Overload. Its
	// Dimensions are ignored. Nil: the predicted time of a task is its computing time at speed 1.
	Forecast *knn.Config
	// LateNotice delays the notice of a lost output: it is noticed when a phase that reads it is about to begin, or
	// at once if such a phase has begun. Otherwise every loss is noticed at once.
	LateNotice bool
	// Replicate protects intermediate outputs against loss; nil: no protection.
	Replicate *Replication

	// Until is the end of the simulation; 0: the end of the last job.
	Until time.Duration
	// Explain is the number of a job, counted from 1, with its decisions in Result.Story; 0: none.
	Explain int
	// Record stores all attempts in Result.Runs.
	Record bool
}

// Rack has the bandwidths of its links to the other racks, in bytes per second; 0 is infinitely fast.
type Rack struct{ Up, Down float64 }

// Kind is a kind of slot. A cluster that does not distinguish maps and reduces has slots of one kind only.
type Kind uint8

// The kinds of slots.
const (
	Map Kind = iota
	Reduce
	kinds
)

// String returns the name of the kind.
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
	// Physical is the index of its physical machine. DiskRate is the largest part of the disk of its physical machine
	// that it gets, in bytes per second; 0: no limit. Background is the number of endless writes that share its disk.
	// All need Config.Physical.
	Physical   int
	DiskRate   float64
	Background int
	// Speed is a factor on the speed of all work; 0 is used as 1.
	Speed float64
	// Slow lists the times in which the machine is slower, in order.
	Slow []Spell
	// Loses lists the times at which all finished outputs on the machine are lost. Running attempts go on.
	Loses []time.Duration
}

// Spell is a time in which a machine works at Factor of its speed.
type Spell struct {
	At, For time.Duration
	Factor  float64
}

// Job is a job of one or more phases.
type Job struct {
	At     time.Duration
	Pool   int // index in Order.Pools
	Phases []Phase
	// Deadline is the instant before which the job should end; 0: none.
	Deadline time.Duration
	// Follows is the number of an earlier job, counted from 1. This job is submitted At after the end of that job; 0:
	// At is an instant.
	Follows int
	// Delay replaces Config.Delay for this job; nil: Config.Delay.
	Delay *delay.Policy
}

// Phase is a number of tasks that do the same work on different data.
type Phase struct {
	Kind  Kind
	Tasks []Task
	// After are the phases of the job whose output this phase reads, all earlier in Job.Phases. Pattern tells which
	// of their tasks a task reads.
	After   []int
	Pattern assign.Pattern
	// Begin is the share of the tasks of After that must have ended before tasks of this phase start. Hadoop starts
	// reduces after the first maps, and lets them copy while other maps run. 0 is used as 1, a barrier.
	Begin float64
	// Fetch is the speed at which a task reads the output of the phases After, if the links of the network are not
	// simulated, in bytes per second; 0: infinitely fast.
	Fetch float64
	// Luck draws a factor on the computing time of an attempt, and on the bytes that it writes. wave is 0 for
	// attempts that start as soon as the phase can begin, and 1 for others. Nil: 1.
	Luck func(r *rand.Rand, task, machine, wave int) float64
	// Late lets an attempt with a Luck above 1 compute as fast as others at first. It becomes slow at a random point of
	// its work, and takes as long in all. Its reports show no slowness before.
	Late bool
	// Keys are the values that the tasks reduce; nil: none. With Keys, the work and the input of each task are
	// decided when the phase begins.
	Keys *Keys
	// ReadScore is the share of the progress that stands for reading; 0: the share of the time that reading takes at
	// usual speeds.
	ReadScore float64
}

// Task is a task with its work and its input.
type Task struct {
	// Seconds is the computing time on a machine of speed 1, without luck.
	Seconds float64
	// Bytes is the size of the input: blocks on the machines Replicas, or, if the phase reads other phases, the
	// task's part of their outputs.
	Bytes float64
	// Writes is the number of bytes that the task writes after it has computed. It takes time only with Config.Physical.
	Writes float64
	// Replicas are the machines that have the block of the task. Nil: the block is equally near to all machines.
	Replicas []int32
	// Work is the size of the task as the host knows it; 0: unknown.
	Work float64
}
