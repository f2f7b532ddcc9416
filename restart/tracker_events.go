package restart

import (
	"time"

	"github.com/straggler-go/straggler/estimate"
	"github.com/straggler-go/straggler/internal/num"
)

// Progress is what a copy reports of itself. Leave out what is not known.
type Progress struct {
	// Done is the work it has done since it began, in the units of Config.Work.
	Done float64
	// Score is its progress score in [0, 1]; if 0, Done divided by the task's work is used.
	Score float64
	// Remaining is the host's own estimate of t_rem, such as that of [estimate.Subphases]; if 0, Config.Model is used.
	Remaining time.Duration
}

// Start records that a copy of the task has begun to run on a machine (negative if not known): the first copy of a task
// that waited, or one more of a task that runs. It returns the attempt's number, or -1 if the task is not to be run
// because it has ended or does not exist, which is counted as ignored.
func (t *Tracker) Start(now time.Time, task, machine int) int {
	t.tick(now)
	s := t.task(task)
	if s == nil || s.flags&finished != 0 {
		if s != nil {
			t.ledger.Ignored++
		}
		return none
	}
	i := t.newCopy()
	c := &t.copies[i]
	*c = copyState{
		start: t.now, readAll: noTime, remaining: estimate.Unknown, sample: estimate.None, pace: -1,
		task: int32(task), next: s.copies, machine: int32(min(max(machine, none), maxTasks)), attempt: s.attempts,
		beside: s.copies != none, firstWave: t.started < t.phase.Slots,
	}
	if c.beside {
		s.lastCopy = t.now
		t.ledger.Copies++
		t.dropCandidate(task)
	} else {
		t.active++
		t.leaveQueue(s)
		t.config.Budget.TaskStarted()
	}
	if s.attempts == 0 {
		t.started++
	}
	s.copies = i
	s.attempts++
	t.running++
	t.ledger.Started++
	t.count()
	t.tryMachine(s, c.machine)
	t.startScore(s)
	return int(c.attempt)
}

// Report takes a progress report and answers what to do about the task. [Restart] and [Kill] are to be carried out, and
// then told to the tracker. [Duplicate] says that the task is worth a copy: launch one, or let [Tracker.Next] choose
// among all such tasks when a slot is free. Decision.Copy is the number of the attempt to kill.
func (t *Tracker) Report(now time.Time, task, attempt int, p Progress) Decision {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return Decision{Reason: NotRunning}
	}
	s, c := &t.tasks[task], &t.copies[i]
	age := t.now - c.start
	done := p.Done
	if done == 0 && p.Score > 0 {
		done = p.Score * s.work
	}
	if !t.model.Report(&c.progress, age, done) {
		t.ledger.Ignored++
	}
	done = c.progress.Done()
	if done > 0 {
		t.reported = true
	}
	if done >= s.work && c.readAll == noTime {
		c.readAll = age
	}
	c.remaining = estimate.Unknown
	if p.Remaining > 0 {
		c.remaining = num.Add(t.now, p.Remaining) // kept as the instant of the end, so that it runs down
	}
	score := min(done/s.work, 1)
	if p.Score > 0 {
		score = min(p.Score, 1)
	}
	t.sample(s, c, age, done)
	t.setScore(s, c, score, age)
	return t.judge(task, askNone)
}

// sample refreshes what a running copy contributes to the distribution of rates: from its first interval on, however
// little it has done. To wait until it has done a share of its work would let only the fast ones in.
func (t *Tracker) sample(s *taskState, c *copyState, age time.Duration, done float64) {
	if t.needs&needRates == 0 || done <= 0 || age < t.config.Interval {
		return
	}
	c.sample = int32(t.rates.Running(int(c.sample), age.Seconds()/min(done/s.work, 1), s.work))
}

// Finish records that an attempt has ended its task with success. It appends to dst the numbers of the task's other
// running attempts, which the host should kill and which the tracker takes as ended, and returns the longer slice.
func (t *Tracker) Finish(now time.Time, task, attempt int, dst []int) []int {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return dst
	}
	s, c := &t.tasks[task], &t.copies[i]
	t.credit(s, i)
	if c.beside {
		t.ledger.Won++
	}
	for j := s.copies; j != none; {
		next := t.copies[j].next
		if j != i {
			dst = append(dst, int(t.copies[j].attempt))
			if t.copies[j].beside {
				t.ledger.Lost++
			}
			t.end(s, j, false)
		}
		j = next
	}
	age := t.now - c.start
	t.learn(s, c, age)
	t.finishScore(s, c, age)
	t.end(s, i, true)
	s.flags |= finished
	t.active--
	t.phase.Finished++
	t.ledger.Finished++
	t.count()
	t.dropCandidate(task)
	return dst
}

// learn takes the run time of a copy that finished as a sample.
func (t *Tracker) learn(s *taskState, c *copyState, age time.Duration) {
	seconds := age.Seconds()
	if c.readAll != noTime {
		t.wrapUp.Observe(c.readAll, age)
		t.model.WrapUp = t.wrapUp.Mean()
	}
	if t.config.Factors != nil && t.rates.Finished() > 0 {
		t.config.Factors.Observe(int(c.machine), seconds/(t.rates.Work(s.work)*t.rates.Mean()))
	}
	if t.needs&needRates != 0 || t.config.Factors != nil {
		t.rates.Drop(int(c.sample))
		t.rates.Finish(seconds, s.work, c.firstWave)
	}
	if t.needs&needDurations != 0 {
		t.durations.Insert(seconds)
	}
	if t.needs&needFinishedRates != 0 {
		t.finishedRates.Insert(seconds / s.work)
	}
	if t.needs&needThroughput != 0 {
		t.workDone += s.work
		t.workTime += seconds
	}
}

// credit accounts what the task's end saved: against its other copies if a later copy won, and against the copy that a
// restart killed.
func (t *Tracker) credit(s *taskState, winner int32) {
	expected := s.expected
	if t.copies[winner].beside {
		for j := s.copies; j != none; j = t.copies[j].next {
			if j == winner || t.copies[j].attempt > t.copies[winner].attempt {
				continue
			}
			if left := t.remaining(s, &t.copies[j]); left != estimate.Unknown {
				expected = max(expected, num.Add(t.now, left))
			}
		}
	}
	if expected != noTime {
		t.ledger.Saved = num.Add(t.ledger.Saved, expected-t.now)
	}
}

// Fail records that an attempt failed. If no other copy of the task runs, the task waits again. Its time is no sample.
func (t *Tracker) Fail(now time.Time, task, attempt int) {
	t.tick(now)
	if i := t.find(task, attempt); i != none {
		t.ledger.Failed++
		t.abandon(task, i, false)
	}
}

// Kill records that an attempt was killed: because a decision said so, or for the host's own reasons. If no other copy
// of the task runs, the task waits again.
func (t *Tracker) Kill(now time.Time, task, attempt int) {
	t.tick(now)
	if i := t.find(task, attempt); i != none {
		t.ledger.Pruned++
		t.abandon(task, i, true)
	}
}

// Restart records that an attempt was killed in order to run the task again. If no other copy of it runs, the task waits.
func (t *Tracker) Restart(now time.Time, task, attempt int) {
	t.tick(now)
	i := t.find(task, attempt)
	if i == none {
		return
	}
	s := &t.tasks[task]
	if left := t.remaining(s, &t.copies[i]); left != estimate.Unknown {
		s.expected = num.Add(t.now, left)
	}
	s.restarts++
	t.ledger.Restarts++
	t.abandon(task, i, true)
}

// abandon ends a copy that did not finish. What a killed copy has shown of its rate stays a sample of the phase; to drop
// it would leave only the fast tasks in sight. What a failed copy has shown goes.
func (t *Tracker) abandon(task int, i int32, keepSample bool) {
	s, c := &t.tasks[task], &t.copies[i]
	if !keepSample {
		t.rates.Drop(int(c.sample))
	}
	t.end(s, i, false)
	if s.copies == none {
		t.active--
		t.enqueue(s, int32(task))
		t.dropCandidate(task)
	}
	t.count()
}

// end takes a copy out of its task's list and of all sums.
func (t *Tracker) end(s *taskState, i int32, success bool) {
	c := &t.copies[i]
	ran := t.now - c.start
	t.ledger.Used = num.Add(t.ledger.Used, ran)
	if !success {
		t.ledger.Wasted = num.Add(t.ledger.Wasted, ran)
		t.clearPace(c)
	}
	for link := &s.copies; *link != none; link = &t.copies[*link].next {
		if *link == i {
			*link = c.next
			break
		}
	}
	c.task, c.next = none, t.freeCopy
	t.freeCopy = i
	t.running--
}

// LoseMachine records that a machine is gone with all that ran on it. It appends to dst the tasks that lost their last
// copy, which wait again, in ascending order of their place in the tracker, and returns the longer slice. O(copies).
func (t *Tracker) LoseMachine(now time.Time, machine int, dst []int) []int {
	t.tick(now)
	for i := range t.copies {
		c := &t.copies[i]
		if c.task == none || int(c.machine) != machine || machine < 0 {
			continue
		}
		task := int(c.task)
		t.ledger.Failed++
		t.abandon(task, int32(i), false)
		if t.tasks[task].copies == none {
			dst = append(dst, task)
		}
	}
	return dst
}

// LoseOutput records that the output of a finished task is lost and that it must run again: it waits.
func (t *Tracker) LoseOutput(now time.Time, task int) {
	t.tick(now)
	s := t.task(task)
	switch {
	case s == nil:
	case s.flags&finished == 0:
		t.ledger.Ignored++
	default:
		s.flags &^= finished
		t.phase.Finished--
		t.enqueue(s, int32(task))
		t.loseScore(s)
	}
}

func (t *Tracker) newCopy() int32 {
	if i := t.freeCopy; i != none {
		t.freeCopy = t.copies[i].next
		return i
	}
	t.copies = append(t.copies, copyState{})
	return int32(len(t.copies) - 1)
}

// tryMachine remembers a machine at the front of those that the task was tried on.
func (t *Tracker) tryMachine(s *taskState, machine int32) {
	if machine == none {
		return
	}
	at := len(s.tried) - 1
	for i, m := range s.tried {
		if m == machine {
			at = i
			break
		}
	}
	copy(s.tried[1:at+1], s.tried[:at])
	s.tried[0] = machine
}
