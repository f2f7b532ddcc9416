package cluster

import "time"

// Result is the result of a simulation.
type Result struct {
	Jobs []JobResult
	// End is the end of the simulation.
	End time.Duration
	// Events is the number of handled events: ends of stages, reports, flows, arrivals and offers.
	Events int

	// Launched is the number of attempts, and Speculative the number of copies among them. Won is the number of
	// copies and restarts that ended their task sooner: for a restart, sooner than the killed attempt would have
	// ended it at its speed at that time. Restarted is the number of attempts that were killed to start anew, Pruned
	// of copies killed as not worth their slot, and Lost of attempts killed because another attempt had ended the
	// task. Preempted is the number of attempts killed for another pool, and SentBack of attempts killed because
	// their input was lost.
	Launched, Speculative, Won, Restarted, Pruned, Lost, Preempted, SentBack int
	// Cloned is the number of cloned phases. Refused is the number of phases that were not cloned because
	// the budget or the ceiling was reached.
	Cloned, Refused int
	// Used is the slot time of all attempts, by kind. Wasted is the slot time of attempts that did not end their
	// task.
	Used   [kinds]time.Duration
	Wasted time.Duration
	// Near counts the attempts of tasks with blocks: on a machine with the block, in a rack with the block, and elsewhere.
	Near Near
	// Bytes is the number of bytes that crossed links between racks.
	Bytes float64
	// Recomputed is the number of tasks that ran again because their output was lost. Replicas is the number of
	// replicas of outputs, and Replicated their bytes. Saved is the number of lost outputs with a replica. Processed
	// is the number of bytes in the input of all finished tasks.
	Recomputed, Replicas, Saved int
	// Ahead is the number of runs that computed an output ahead of need. AheadSaved is the part of Saved with an
	// output from such a run. AheadLate is the number of such runs that had not ended when the loss was noticed; they
	// end their task. AheadTime is the slot time of the other runs.
	Ahead, AheadSaved, AheadLate int
	AheadTime                    time.Duration
	Replicated, Processed        float64
	// Overloaded is the number of times that a machine was found to be overloaded with a job. Offloaded is the number
	// of tasks that moved to another machine because of this.
	Overloaded, Offloaded int
	// Story has the decisions about the job Config.Explain.
	Story []Line
	// Runs are all attempts in the order of their ends, if Config.Record is set.
	Runs []Attempt
}

// Attempt is an attempt of a task.
type Attempt struct {
	Job, Phase, Task, Machine int
	// Begin is the start of the attempt, Work the end of its reading (0 if it did not come so far), and End its end.
	Begin, Work, End time.Duration
	// Won is true if the attempt ended its task. Extra is true if it was a copy.
	Won, Extra bool
}

// JobResult is the result of a job.
type JobResult struct {
	// At is the arrival of the job, Begin the start of its first attempt (-1 if none started), and End its end (0 if
	// it did not end).
	At, Begin, End time.Duration
	Phases         []PhaseResult
	Near           Near // as in Result
}

// Near counts attempts by the distance of their blocks.
type Near [3]int

// Share returns the share of the attempts that are not further from their blocks than a level: 0 is the machine with the
// block, and 1 its rack.
func (n Near) Share(level int) float64 {
	return float64(n[0]+level*n[1]) / float64(max(1, n[0]+n[1]+n[2]))
}

// Took returns the response time of the job.
func (j JobResult) Took() time.Duration { return j.End - j.At }

// PhaseResult has the instants at which a phase could begin and at which it ended.
type PhaseResult struct {
	Phase       int
	Opened, End time.Duration
}

// Line is a line of Story.
type Line struct {
	At   time.Duration
	Text string
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
