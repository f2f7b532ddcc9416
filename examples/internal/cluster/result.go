package cluster

import "time"

// Result is what a simulation came to.
type Result struct {
	Jobs []JobResult
	// End is when it ended.
	End time.Duration
	// Events were handled: stages that ended, reports, flows, arrivals, offers.
	Events int

	// Launched counts all copies, and Speculative those of them that a decision launched beside a running copy. Won counts
	// those of them that ended their task, and restarts after which it ended sooner than the killed copy would have ended
	// it at its speed of then. Restarted were killed to run again, Pruned because other copies were faster, Lost because
	// another had ended the task, Preempted for another pool, and SentBack because what they read was lost.
	Launched, Speculative, Won, Restarted, Pruned, Lost, Preempted, SentBack int
	// Cloned is how many phases were cloned, and Refused how many were not for want of room.
	Cloned, Refused int
	// Used is the time that copies held slots, by kind, and Wasted the part of those that did not end their task.
	Used   [kinds]time.Duration
	Wasted time.Duration
	// Node, InRack and Off count the launches of tasks with blocks on a machine that has one, in the rack of one, and
	// elsewhere.
	Node, InRack, Off int
	// Bytes crossed links between racks.
	Bytes float64
	// Recomputed counts tasks whose output was lost and that ran again, Replicas the copies of outputs made against that,
	// Replicated their bytes, and Saved how many lost outputs were there a second time. Processed is the bytes that finished
	// tasks had to read.
	Recomputed, Replicas, Saved int
	// Ahead counts runs of tasks whose outputs were expected to be lost. AheadSaved are those of Saved that read the output
	// of such a run, and AheadLate the runs that had not ended when the loss was noticed: these end their task.
	// AheadTime is the slots' time of those that did not.
	Ahead, AheadSaved, AheadLate int
	AheadTime                    time.Duration
	Replicated, Processed        float64
	// DiskFull counts the slots that were not used because the machine's disk had no room for what the task would write,
	// DiskMost is the most that a machine held, Evicted counts jobs that lost EvictedBytes so that others could go on.
	DiskFull, Evicted      int
	DiskMost, EvictedBytes int64
	// Overloaded counts how often a machine was found to be overloaded with a job, and Offloaded the tasks that went
	// elsewhere because of that.
	Overloaded, Offloaded int
	// Reports came; ReportsLost did not.
	Reports, ReportsLost int
	// Story is that of Config.Explain.
	Story   []Line
	Samples []Sample
	// Runs are all copies, in the order in which they ended, if Config.Record is set.
	Runs []Attempt
}

// Attempt is one copy of a task.
type Attempt struct {
	Job, Phase, Task, Machine int
	// Begin is when it was launched, Work when it had read what it reads (0 if it did not come so far), End when it ended.
	Begin, Work, End time.Duration
	// Won says that it ended its task; Extra that it was launched beside another.
	Won, Extra bool
}

// JobResult is what became of a job.
type JobResult struct {
	// At is when it came, Begin when its first task was launched (-1 if none was), End when it ended (0 if it did not).
	At, Begin, End time.Duration
	Phases         []PhaseResult
	// Node, InRack and Off are as in Result.
	Node, InRack, Off int
	Copies            int
}

// Took is the job's response time.
func (j JobResult) Took() time.Duration { return j.End - j.At }

// PhaseResult is when a phase could begin and when it ended.
type PhaseResult struct {
	Phase       int
	Opened, End time.Duration
}

// Line is one line of a story.
type Line struct {
	At   time.Duration
	Text string
}

// Sample is a row of the timeline.
type Sample struct {
	At      time.Duration
	Busy    [kinds]int
	Waiting int
	Jobs    int // that have come and not ended
}

func (s *sim) sample() {
	row := Sample{At: s.now}
	for k := range s.free {
		row.Busy[k] = s.total[k] - s.free[k]
	}
	for i := range s.jobs {
		j := &s.jobs[i]
		if j.come && j.left > 0 {
			row.Jobs++
			row.Waiting += int(j.waiting[Map] + j.waiting[Reduce])
		}
	}
	s.result.Samples = append(s.result.Samples, row)
	if s.left > 0 {
		s.queue.Push(s.now+s.c.Sample, sampled, 0, 0)
	}
}

func (s *sim) finish() {
	s.result.End = s.now
	for i := range s.copies {
		if c := &s.copies[i]; c.live {
			s.result.Used[c.kind] += s.now - c.begun
		}
	}
	for i := range s.phases {
		if s.phases[i].open {
			s.close(int32(i))
		}
	}
	s.result.Bytes = s.net.bytes
}
