package queuesim

import "time"

// Scenario describes a batch of tasks, and the trouble that happens. A zero field means no such trouble.
type Scenario struct {
	Name    string
	Tasks   int           // 0 stands for 160
	Workers int           // 0 stands for Workers
	Seconds float64       // usual time of a task, which is multiplied by e^(.2 N); 0 is .6
	Long    bool          // every 12th task, with i mod 12 = 5, takes six times as long
	Told    bool          // the coordinator knows the time of each task on a good worker
	Reports bool          // attempts report their progress
	Slow    float64       // factor by which the last worker is slower
	Hang    float64       // share of attempts that do nothing until they are told to end
	Unlucky float64       // share of attempts that take UnluckyTimes as long
	Fail    float64       // share of attempts that fail half-way
	Stopped Span          // the time in which the last worker is stopped
	Killed  Span          // the last worker is killed, and comes back
	Outage  time.Duration // until this instant, every attempt fails OutageFails after it begins

	CoordinatorKilled []time.Duration // instants at which the coordinator is killed
	SecondCoordinator time.Duration   // when a second coordinator starts by accident; 0: never
}

// OutageFails is the time after which an attempt fails during an outage.
const OutageFails = 20 * time.Millisecond

// Span is the time from one instant to another.
type Span struct{ From, Till time.Duration }

func (s Span) holds(at time.Duration) bool { return at >= s.From && at < s.Till }

// Scenarios returns all scenarios.
func Scenarios() []Scenario {
	stopped := Span{1500 * time.Millisecond, 9500 * time.Millisecond}
	mixed := Scenario{Slow: 8, Long: true, Hang: .02, Fail: .04}
	of := func(name string, change func(*Scenario)) Scenario {
		s := mixed
		s.Name = name
		change(&s)
		return s
	}
	killed := []time.Duration{600, 1900, 3100, 4700}
	for i := range killed {
		killed[i] *= time.Millisecond
	}
	return []Scenario{
		{Name: "healthy"},
		{Name: "one worker 8x", Slow: 8},
		{Name: "one worker 8x, progress", Slow: 8, Reports: true},
		{Name: "one worker 8x, 80 of 2 s", Slow: 8, Tasks: 80, Seconds: 2},
		{Name: "SIGSTOP for 8 s", Stopped: stopped},
		{Name: "SIGSTOP for 8 s, progress", Stopped: stopped, Reports: true},
		{Name: "3 % hang", Hang: .03},
		{Name: "3 % hang, 80 of 2 s", Hang: .03, Tasks: 80, Seconds: 2},
		{Name: "8 % fail", Fail: .08},
		{Name: "long, told", Long: true, Told: true},
		{Name: "long, untold", Long: true},
		{Name: "long, untold, progress", Long: true, Reports: true},
		of("mixed", func(*Scenario) {}),
		of("mixed, progress", func(s *Scenario) { s.Reports = true }),
		of("mixed, progress, 80 of 2 s", func(s *Scenario) { s.Reports, s.Tasks, s.Seconds = true, 80, 2 }),
		of("mixed, told", func(s *Scenario) { s.Told = true }),
		of("mixed, coordinator killed", func(s *Scenario) { s.CoordinatorKilled = killed }),
		of("mixed, two coordinators", func(s *Scenario) { s.SecondCoordinator = 1100 * time.Millisecond }),
		{Name: "a worker dies", Killed: Span{1500 * time.Millisecond, 5500 * time.Millisecond}},
		{Name: "outage of 3 s", Outage: 3 * time.Second},
		{Name: "2,000 tasks on 48 slots, 5 % hang", Tasks: 2000, Workers: 12, Hang: .05},
		{Name: "2,000 tasks on 48 slots, 5 % 8x", Tasks: 2000, Workers: 12, Unlucky: .05},
	}
}

func (s *Scenario) tasks() int {
	if s.Tasks == 0 {
		return 160
	}
	return s.Tasks
}

func (s *Scenario) workers() int {
	if s.Workers == 0 {
		return Workers
	}
	return s.Workers
}

// usual returns the usual time of a task on a good worker, in seconds.
func (s *Scenario) usual() float64 {
	if s.Seconds == 0 {
		return usualSeconds
	}
	return s.Seconds
}

const usualSeconds = .6

// timeout returns the hard timeout of an attempt. It is longer for long tasks: a task of 12 s could not end within 8
// s.
func (s *Scenario) timeout() time.Duration {
	return time.Duration(s.usual() / usualSeconds * float64(Timeout))
}

// seconds returns the time of a task on a good worker.
func (s *Scenario) seconds(l luck, task int) float64 {
	usual := s.usual()
	if s.Long && task%12 == 5 {
		usual *= 6
	}
	return usual * l.size(task)
}
